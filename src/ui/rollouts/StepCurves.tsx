import { useMemo, useRef, useState } from 'react';
import { bucketsInRange } from '../../runs/buckets.ts';
import { type MeansByStep, nearestStep, type StepMean, type StepMeans, STEP_MEANS } from '../../rollouts/select.ts';
import { LineChart } from '../charts/LineChart.tsx';
import { type Plot, updateAt, verticalLine } from '../../page/curves/plot.ts';
import { percent, shortNumber } from '../../page/words/numberText.ts';
import { useSize } from '../../page/browser/useSize.ts';

const LABELS: Readonly<Record<StepMean, string>> = {
  reward: 'reward',
  success: 'success',
  turns: 'turns',
  toolCalls: 'tool calls',
  length: 'length',
};
const PLOT_BOX = { height: 64, left: 4, right: 4, top: 6, bottom: 6 }; // px
const MAX_POINTS = 300; // drawn per curve

export function StepCurves({ means: { steps, unit } }: { readonly means: MeansByStep }) {
  const [hoveredIndex, setHoveredIndex] = useState<number | null>(null);
  if (steps.length < 2) return null;
  const measuredMeans = STEP_MEANS.filter((name) => steps.some((step) => !Number.isNaN(step[name])));
  return (
    <section className="panel step-curves" aria-label="Over the steps">
      {measuredMeans.map((name) => (
        <StepCurve key={name} {...{ name, unit, steps, hoveredIndex, setHoveredIndex }} />
      ))}
    </section>
  );
}

interface Props {
  readonly name: StepMean;
  readonly unit: string; // unit of `length`
  readonly steps: readonly StepMeans[];
  readonly hoveredIndex: number | null; // index of the step under the pointer
  readonly setHoveredIndex: (index: number | null) => void;
}

function StepCurve({ name, unit, steps, hoveredIndex, setHoveredIndex }: Props) {
  const box = useRef<HTMLElement>(null);
  const { width } = useSize(box);
  // memoized so that moving the pointer doesn't compute it again: there may be 100,000 steps
  const { first, last, bounds, lines, bands } = useMemo(() => curveOf(steps, name), [steps, name]);
  const low = name === 'success' ? 0 : Math.min(0, bounds[0]);
  const high = name === 'success' ? 1 : Math.max(bounds[1], low + 1e-9);
  const [from, to] = [steps[0]?.step ?? 0, steps.at(-1)?.step ?? 1];
  const plot: Plot = { ...PLOT_BOX, width, x: { from, to }, y: { domain: [low, high], log: false } };
  const format = name === 'success' ? percent : shortNumber;
  const shown = hoveredIndex === null ? steps.at(-1) : steps[hoveredIndex];
  const label = name === 'length' ? `${LABELS[name]}, ${unit}` : LABELS[name];
  return (
    <figure ref={box}>
      <figcaption className="line small soft">
        {label}
        <b className="end">
          {format(shown?.[name])} <span className="faint">at {shortNumber(shown?.step)}</span>
        </b>
      </figcaption>
      {width > 20 && (
        <div
          onPointerMove={({ nativeEvent }) => setHoveredIndex(nearestStep(steps, updateAt(plot, nativeEvent.offsetX)))}
          onPointerLeave={() => setHoveredIndex(null)}
        >
          <LineChart
            label={`${label}: from ${format(first)} at step ${from} to ${format(last)} at step ${to}`}
            chart={{ plot, gridLines: [Math.max(low, Math.min(high, 0))], bands, lines }}
          >
            {hoveredIndex !== null && <path className="crosshair" d={verticalLine(plot, shown?.step ?? 0)} />}
          </LineChart>
        </div>
      )}
    </figure>
  );
}

/**
 * Data to draw the curve of a mean: first and last value, smallest and largest value (0 if there are none), a line with
 * at most `MAX_POINTS` points, and a band from min to max if a point covers several steps.
 */
function curveOf(steps: readonly StepMeans[], name: StepMean) {
  const measured = steps.filter((step) => !Number.isNaN(step[name]));
  const [x, y] = [measured.map(({ step }) => step), measured.map((step) => step[name])];
  const buckets = bucketsInRange({ x, y, smooth: y }, x[0] ?? 0, x.at(-1) ?? 0, MAX_POINTS);
  const lastSteps = buckets.map(({ last }) => last);
  const [lows, highs] = [buckets.map(({ min }) => min), buckets.map(({ max }) => max)];
  return {
    first: y[0],
    last: y.at(-1),
    bounds: [Math.min(...lows, y[0] ?? 0), Math.max(...highs, y[0] ?? 0)] as const,
    lines: [{ cssClass: 'smooth', x: lastSteps, y: buckets.map(({ sum, count }) => sum / count) }],
    bands: buckets.some(({ count }) => count > 1) ? [{ x: lastSteps, low: lows, high: highs }] : [],
  };
}
