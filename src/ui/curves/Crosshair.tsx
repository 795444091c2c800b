import { textWidth } from '../parts/textWidth.ts';
import type { Trace } from '../../runs/buckets.ts';
import { across, down, type Plot, upright } from './plot.ts';
import { readAt } from './traces.ts';
import { useView } from './view.ts';
import type { XRange } from './xRange.ts';

const FONT_PX = 10.5; // px, --type-1
const TAG_HEIGHT = 17; // px
const LIVE_COLOURS = ['var(--curve)', 'var(--curve-2)'];

interface Props {
  readonly plot: Plot;
  readonly traces: readonly Trace[]; // the curves that it reads
  readonly colours?: readonly string[]; // of the dots; absent: the colours of the live run
  readonly marked?: number | null; // update whose batch is shown
}

/**
 * The layer over a line chart: a line at the update whose batch is shown, the crosshair that all charts share (with its
 * update and a dot on each curve), and the range being selected. A separate SVG, so that moving the crosshair doesn't
 * redraw the curves.
 */
export function Crosshair({ plot, traces, colours = LIVE_COLOURS, marked = null }: Props) {
  const at = useView((s) => s.at);
  const chosen = useView((s) => s.chosen);
  const isInView = (update: number | null): update is number =>
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
      {chosen && <ChosenRange plot={plot} chosen={chosen} />}
      {isInView(marked) && (
        <g data-marked={marked}>
          <path className="marked" d={upright(plot, marked)} />
          {dots(marked, 'value')}
        </g>
      )}
      {isInView(at) && (
        <g data-at={at}>
          <path className="crosshair" d={upright(plot, at)} />
          {dots(at, 'smooth')}
          <Tag plot={plot} at={at} />
        </g>
      )}
    </svg>
  );
}

/** The number of the crosshair's update, on the axis. */
function Tag({ plot, at }: { readonly plot: Plot; readonly at: number }) {
  const text = `${at}`;
  const width = Math.ceil(textWidth(text, FONT_PX)) + 6;
  const from = Math.min(Math.max(0, across(plot, at) - width / 2), plot.width - width);
  const bottom = plot.height - plot.bottom;
  return (
    <>
      <rect x={from} y={bottom + 2} width={width} height={TAG_HEIGHT} rx={3} />
      <text x={from + width / 2} y={bottom + 15} textAnchor="middle">
        {text}
      </text>
    </>
  );
}

function ChosenRange({ plot, chosen }: { readonly plot: Plot; readonly chosen: XRange }) {
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
