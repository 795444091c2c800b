import { across, AXIS, down, type Frame, MARGIN } from './frame.ts';
import { useMarkedUpdate } from './markedUpdate.ts';
import { readAt } from './curveValue.ts';
import { useView } from './view.ts';
import type { XRange } from './xRange.ts';
import { textWidth } from '../parts/textWidth.ts';

const TYPE = 10.5; // px, --type-1

/** The overlay of a chart: a line at the update whose batch is in view, the shared crosshair with its update and a dot on each curve, and the range that is being selected. */
export function Crosshair({ frame }: { readonly frame: Frame }) {
  const at = useView((s) => s.at);
  const chosen = useView((s) => s.chosen);
  const marked = useMarkedUpdate();
  const { width, height, x } = frame;
  const isIn = (update: number | null): update is number => update !== null && update >= x.from && update <= x.to;
  if (at === null && chosen === null && marked === null) return null;
  return (
    <svg className="chart-over" width={width} height={height} aria-hidden="true">
      {chosen && <Chosen frame={frame} chosen={chosen} />}
      {isIn(marked) && <Marked frame={frame} update={marked} />}
      {isIn(at) && <Cross frame={frame} at={at} />}
    </svg>
  );
}

/** Where the batch in view stands: a line, and a dot on each curve as it was measured. */
function Marked({ frame, update }: { readonly frame: Frame; readonly update: number }) {
  const left = across(frame, update);
  return (
    <g data-marked={update}>
      <path className="marked" d={`M${left} ${MARGIN.top}V${frame.height - AXIS}`} />
      {frame.traces.map((trace, line) => {
        const read = readAt(trace, update);
        if (!read) return null;
        return (
          <circle key={line} data-line={line} cx={across(frame, read.update)} cy={down(frame, read.value)} r={3.5} />
        );
      })}
    </g>
  );
}

function Cross({ frame, at }: { readonly frame: Frame; readonly at: number }) {
  const { width, height, traces } = frame;
  const left = across(frame, at);
  const text = `${at}`;
  const tag = Math.ceil(textWidth(text, TYPE)) + 6;
  const from = Math.min(Math.max(0, left - tag / 2), width - tag);
  return (
    <g data-at={at}>
      <path className="crosshair" d={`M${left} ${MARGIN.top}V${height - AXIS}`} />
      {traces.map((trace, line) => {
        const read = readAt(trace, at);
        if (!read) return null;
        const y = down(frame, read.smooth);
        return <circle key={line} data-line={line} cx={across(frame, read.update)} cy={y} r={3.5} />;
      })}
      <rect x={from} y={height - AXIS + 2} width={tag} height={AXIS - 3} rx={3} />
      <text x={from + tag / 2} y={height - 5} textAnchor="middle">
        {text}
      </text>
    </g>
  );
}

function Chosen({ frame, chosen }: { readonly frame: Frame; readonly chosen: XRange }) {
  const { width, height, side, right: room } = frame;
  const [left, right] = [chosen.from, chosen.to].map((update) =>
    Math.min(Math.max(side, across(frame, update)), width - room),
  );
  return (
    <rect
      className="chosen"
      x={left}
      y={MARGIN.top}
      width={Math.max(1, right! - left!)}
      height={height - AXIS - MARGIN.top}
    />
  );
}
