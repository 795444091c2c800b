import { textWidth } from '../parts/textWidth.ts';
import type { Trace } from '../../runs/buckets.ts';
import { across, down, type Plot, upright } from './plot.ts';
import { readAt } from './traces.ts';
import { useView } from './view.ts';
import type { XRange } from './xRange.ts';

const TYPE = 10.5; // px, --type-1
const TAG = 17; // height of the update's number, px
const OWN = ['var(--curve)', 'var(--curve-2)'];

interface Props {
  readonly plot: Plot;
  readonly traces: readonly Trace[]; // what it reads
  readonly colours?: readonly string[]; // of its dots; absent: those of a chart of the live run
  readonly marked?: number | null; // update whose batch is in view
}

/**
 * What lies over a line chart while it is read: a line at the update whose batch is in view, the crosshair that all charts share with its
 * update and a dot on each curve, and the range that is being selected. It is a picture of its own, so that moving it draws no curve again.
 */
export function Crosshair({ plot, traces, colours = OWN, marked = null }: Props) {
  const at = useView((s) => s.at);
  const chosen = useView((s) => s.chosen);
  const isIn = (update: number | null): update is number =>
    update !== null && update >= plot.x.from && update <= plot.x.to;
  if (at === null && chosen === null && marked === null) return null;
  const dots = (update: number, value: 'value' | 'smooth') =>
    traces.map((trace, line) => {
      const read = readAt(trace, update);
      if (!read) return null;
      const place = { cx: across(plot, read.update), cy: down(plot, read[value]) };
      return <circle key={line} {...place} r={3.5} style={{ fill: colours[line] }} />;
    });
  return (
    <svg className="chart-over" width={plot.width} height={plot.height} aria-hidden="true">
      {chosen && <Chosen plot={plot} chosen={chosen} />}
      {isIn(marked) && (
        <g data-marked={marked}>
          <path className="marked" d={upright(plot, marked)} />
          {dots(marked, 'value')}
        </g>
      )}
      {isIn(at) && (
        <g data-at={at}>
          <path className="crosshair" d={upright(plot, at)} />
          {dots(at, 'smooth')}
          <Tag plot={plot} at={at} />
        </g>
      )}
    </svg>
  );
}

/** The update that the crosshair is at, on the axis. */
function Tag({ plot, at }: { readonly plot: Plot; readonly at: number }) {
  const text = `${at}`;
  const width = Math.ceil(textWidth(text, TYPE)) + 6;
  const from = Math.min(Math.max(0, across(plot, at) - width / 2), plot.width - width);
  const floor = plot.height - plot.bottom;
  return (
    <>
      <rect x={from} y={floor + 2} width={width} height={TAG} rx={3} />
      <text x={from + width / 2} y={floor + 15} textAnchor="middle">
        {text}
      </text>
    </>
  );
}

function Chosen({ plot, chosen }: { readonly plot: Plot; readonly chosen: XRange }) {
  const within = (update: number) => Math.min(Math.max(plot.left, across(plot, update)), plot.width - plot.right);
  const left = within(chosen.from);
  return (
    <rect
      className="chosen"
      x={left}
      y={plot.top}
      width={Math.max(1, within(chosen.to) - left)}
      height={plot.height - plot.bottom - plot.top}
    />
  );
}
