import { textWidth } from '../../page/browser/textWidth.ts';
import type { SmoothedCurve } from '../../runs/buckets.ts';
import { xPixel, yPixel, type Plot, verticalLine } from '../../page/curves/plot.ts';
import { pointNear } from '../../page/view/traces.ts';
import { useChartView } from '../../page/curves/view.ts';
import type { XRange } from '../../page/curves/xRange.ts';

const FONT_PX = 10.5; // px, --type-1
const TAG_HEIGHT = 17; // px
const LIVE_COLOURS = ['var(--curve)', 'var(--curve-2)'];

interface Props {
  readonly plot: Plot;
  readonly traces: readonly SmoothedCurve[]; // the curves that it reads
  readonly colours?: readonly string[]; // of the dots; absent: the colours of the live run
  readonly marked?: number | null; // update whose batch is shown
}

/** A separate SVG over the chart, so that moving the crosshair doesn't redraw the curves. */
export function Crosshair({ plot, traces, colours = LIVE_COLOURS, marked = null }: Props) {
  const at = useChartView((s) => s.crosshairUpdate);
  const chosen = useChartView((s) => s.draggedRange);
  const isInView = (update: number | null): update is number =>
    update !== null && update >= plot.x.from && update <= plot.x.to;
  if (at === null && chosen === null && marked === null) return null;
  const dots = (update: number, value: 'value' | 'smooth') =>
    traces.map((trace, line) => {
      const point = pointNear(trace, update);
      if (!point) return null;
      const place = { cx: xPixel(plot, point.update), cy: yPixel(plot, point[value]) };
      return <circle key={line} {...place} r={3.5} style={{ fill: colours[line] }} />;
    });
  return (
    <svg className="chart-over" width={plot.width} height={plot.height} aria-hidden="true">
      {chosen && <DraggedRange plot={plot} chosen={chosen} />}
      {isInView(marked) && (
        <g data-marked={marked}>
          <path className="marked" d={verticalLine(plot, marked)} />
          {dots(marked, 'value')}
        </g>
      )}
      {isInView(at) && (
        <g data-at={at}>
          <path className="crosshair" d={verticalLine(plot, at)} />
          {dots(at, 'smooth')}
          <UpdateTag plot={plot} at={at} />
        </g>
      )}
    </svg>
  );
}

function UpdateTag({ plot, at }: { readonly plot: Plot; readonly at: number }) {
  const text = `${at}`;
  const width = Math.ceil(textWidth(text, FONT_PX)) + 6;
  const from = Math.min(Math.max(0, xPixel(plot, at) - width / 2), plot.width - width);
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

function DraggedRange({ plot, chosen }: { readonly plot: Plot; readonly chosen: XRange }) {
  const clampedX = (update: number) => Math.min(Math.max(plot.left, xPixel(plot, update)), plot.width - plot.right);
  const left = clampedX(chosen.from);
  return (
    <rect
      className="chosen"
      x={left}
      y={plot.top}
      width={Math.max(1, clampedX(chosen.to) - left)}
      height={plot.height - plot.bottom - plot.top}
    />
  );
}
