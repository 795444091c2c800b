import { memo, useMemo } from 'react';
import { Area, ComposedChart, Line, ReferenceLine, XAxis, YAxis } from 'recharts';
import type { MetricName } from '../../domain/metrics.ts';
import { baselinesOf, labelHeights, type Baseline } from './baselines.ts';
import { short } from '../parts/format.ts';
import { live } from '../run/liveStore.ts';
import { atMost, type Series } from '../../runs/series.ts';

const STEPS = [1, 2, 2.5, 5, 10];
const WHOLE_STEPS = [1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10]; // their halves are whole numbers of updates, too

const MARGIN = { top: 4, right: 6, bottom: 0, left: 0 };
const AXIS = 18; // height of the updates below the plot
const LABEL_GAP = 10;
const MARKS = 60; // places for flags
const FEWEST = 60; // positions at most, in a chart too narrow for more

/** A line without dots that is drawn at once. */
const STILL = { type: 'linear', dot: false, activeDot: false, isAnimationActive: false, connectNulls: true } as const;
/** An axis of numbers, whose ticks are chosen here. */
const NUMBERS = { type: 'number', tickLine: false, interval: 0, tick: { fill: 'var(--ink-3)', fontSize: 10 } } as const;

interface Props {
  readonly metric: MetricName;
  readonly names: readonly MetricName[];
  readonly version: number; // the series grow in place; this says that they did
  readonly width: number;
  readonly height: number;
}
interface Row {
  readonly x: number;
  readonly raw?: number;
  readonly band?: readonly [number, number];
  readonly smooth?: number;
  readonly held?: number;
}

/** One curve: every update faint, its smoothed course, extremes as a band once points share a position. */
export const Chart = memo(function Chart({ metric, names, version, width, height }: Props) {
  const { rows, domain, end, thinned, baselines, marks } = useMemo(
    () => shape(metric, names, version, Math.max(FEWEST, width / 1.5)),
    [metric, names, version, width],
  );
  const labels = baselineLabels(baselines, height);
  return (
    <ComposedChart width={width} height={height} data={rows} margin={MARGIN} accessibilityLayer={false}>
      <XAxis
        dataKey="x"
        {...NUMBERS}
        domain={[0, end]}
        ticks={[0, end / 2, end]}
        height={AXIS}
        axisLine={{ stroke: 'var(--line-strong)' }}
        tickMargin={3}
        padding={{ right: 4 }}
      />
      <YAxis
        {...NUMBERS}
        domain={domain}
        ticks={[domain[0], domain[0] < 0 && domain[1] > 0 ? 0 : (domain[0] + domain[1]) / 2, domain[1]]}
        width={42}
        axisLine={false}
        tickFormatter={short}
      />
      {marks.map((update) => (
        <ReferenceLine key={update} x={update} stroke="var(--flag)" strokeDasharray="2 3" ifOverflow="hidden" />
      ))}
      {thinned && (
        <Area
          dataKey="band"
          stroke="none"
          fill="var(--curve)"
          fillOpacity={0.2}
          isAnimationActive={false}
          activeDot={false}
        />
      )}
      <Line dataKey="raw" stroke="var(--curve)" strokeOpacity={0.4} strokeWidth={1} {...STILL} />
      <Line dataKey="smooth" stroke="var(--curve)" strokeWidth={2} {...STILL} />
      {names.length > 1 && (
        <Line dataKey="held" stroke="var(--curve-2)" strokeWidth={2} strokeDasharray="5 3" {...STILL} />
      )}
      {baselines.map(({ label, share }, i) => (
        <ReferenceLine
          key={label}
          y={share}
          stroke="var(--baseline)"
          strokeDasharray="3 4"
          label={({ viewBox }: { readonly viewBox: { readonly x: number; readonly width: number } }) => (
            <text className="baseline-label" x={viewBox.x + viewBox.width - 2} y={labels[i]} textAnchor="end">
              {label}
            </text>
          )}
        />
      ))}
    </ComposedChart>
  );
});

/** Rows and axes of a chart. `version` is part of the inputs only to say when they changed. */
function shape(metric: MetricName, names: readonly MetricName[], version: number, most: number) {
  const main = live.series.get(metric);
  const held = live.series.get(names[1] ?? metric);
  const buckets = atMost(main?.buckets ?? [], most);
  const thinned = buckets.some((b) => b.count > 1);
  const rows: Row[] = buckets.map((b) => ({
    x: b.last,
    raw: b.sum / b.count,
    smooth: b.smooth,
    ...(thinned && { band: [b.min, b.max] as const }),
  }));
  if (names.length > 1) for (const b of held?.buckets ?? []) rows.push({ x: b.last, held: b.sum / b.count });
  rows.sort((a, b) => a.x - b.x);
  const last = Math.max(rows.at(-1)?.x ?? 1, version > 0 ? 1 : 0);
  const baselines = baselinesOf(metric);
  const share = names.length > 1 || baselines.length > 0;
  const end = roundUp(Math.max(10, last), WHOLE_STEPS);
  return {
    rows,
    thinned,
    baselines,
    marks: marksOf(end),
    end,
    domain: share ? ([0, 1] as const) : domainOf(main),
  };
}

/** Updates to flag: of changes that would lie on each other, as those of a dragged slider do, the first; each line costs time. */
function marksOf(end: number): readonly number[] {
  const marks: number[] = [];
  for (const { update } of live.flags) if (update - (marks.at(-1) ?? -end) >= end / MARKS) marks.push(update);
  return marks;
}

/** Heights of the names of lines between 0 and 1: above their lines, and apart. */
function baselineLabels(baselines: readonly Baseline[], height: number): readonly number[] {
  const plot = height - AXIS - MARGIN.top;
  const lines = baselines.map(({ share }) => MARGIN.top + (1 - share) * plot - 2);
  return labelHeights(lines, LABEL_GAP, MARGIN.top + LABEL_GAP - 1, MARGIN.top + plot - 2);
}

/** Axis ends on round numbers, so that they move in steps and not with every point. */
function domainOf(series: Series | undefined): readonly [number, number] {
  const buckets = series?.buckets ?? [];
  const low = Math.min(0, ...buckets.map((b) => b.min));
  const high = Math.max(0, ...buckets.map((b) => b.max));
  if (low === 0 && high === 0) return [0, 1];
  const size = Math.max(high, -low) / 5; // a side that is drawn at all gets room for its tick
  return [low < 0 ? -roundUp(Math.max(-low, size)) : 0, high > 0 ? roundUp(Math.max(high, size)) : 0];
}

function roundUp(value: number, steps = STEPS): number {
  const decade = 10 ** Math.floor(Math.log10(value));
  return decade * (steps.find((step) => step * decade >= value * 0.999) ?? 10);
}
