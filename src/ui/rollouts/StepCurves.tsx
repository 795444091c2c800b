import { useMemo, useRef, useState } from 'react';
import { type MeansByStep, nearestStep, type StepMean, type StepMeans, STEP_MEANS } from '../../rollouts/select.ts';
import { percent, short } from '../parts/numberText.ts';
import { useSize } from '../parts/useSize.ts';

const LABELS: Readonly<Record<StepMean, string>> = {
  reward: 'reward',
  success: 'success',
  turns: 'turns',
  toolCalls: 'tool calls',
  length: 'length',
};
const HEIGHT = 64;
const PAD = { left: 4, right: 4, top: 6, bottom: 6 };
const MOST_POINTS = 400;

/** Means over the steps of what is listed: reward, success, turns, calls, length. */
export function StepCurves({ means: { steps, unit } }: { readonly means: MeansByStep }) {
  const [at, setAt] = useState<number | null>(null);
  if (steps.length < 2) return null;
  const drawn = STEP_MEANS.filter((name) => steps.some((step) => !Number.isNaN(step[name])));
  return (
    <section className="panel step-curves" aria-label="Over the steps">
      {drawn.map((name) => (
        <StepCurve key={name} {...{ name, unit, steps, at, setAt }} />
      ))}
    </section>
  );
}

interface Props {
  readonly name: StepMean;
  readonly unit: string; // of lengths
  readonly steps: readonly StepMeans[];
  readonly at: number | null; // index of the step that is pointed at
  readonly setAt: (at: number | null) => void;
}

function StepCurve({ name, unit, steps, at, setAt }: Props) {
  const box = useRef<HTMLElement>(null);
  const { width } = useSize(box);
  // once for each list, not for each move of the pointer: there may be 100,000 steps
  const { values, points, bounds } = useMemo(() => curveOf(steps, name), [steps, name]);
  const low = name === 'success' ? 0 : Math.min(0, bounds[0]);
  const high = name === 'success' ? 1 : Math.max(bounds[1], low + 1e-9);
  const [from, to] = [steps[0]?.step ?? 0, steps.at(-1)?.step ?? 1];
  const x = (step: number) => PAD.left + ((step - from) / Math.max(1e-9, to - from)) * (width - PAD.left - PAD.right);
  const y = (value: number) => PAD.top + ((high - value) / (high - low)) * (HEIGHT - PAD.top - PAD.bottom);
  const said = name === 'success' ? percent : short;
  const shown = at === null ? steps.at(-1) : steps[at];
  const label = name === 'length' ? `${LABELS[name]}, ${unit}` : LABELS[name];
  return (
    <figure ref={box}>
      <figcaption className="line small soft">
        {label}
        <b className="end">
          {said(shown?.[name])} <span className="faint">at {short(shown?.step)}</span>
        </b>
      </figcaption>
      {width > 20 && (
        <svg
          width={width}
          height={HEIGHT}
          role="img"
          aria-label={`${label}: from ${said(values[0])} at step ${from} to ${said(values.at(-1))} at step ${to}`}
          onPointerMove={({ nativeEvent }) => {
            const step = from + ((nativeEvent.offsetX - PAD.left) / (width - PAD.left - PAD.right)) * (to - from);
            setAt(nearestStep(steps, step));
          }}
          onPointerLeave={() => setAt(null)}
        >
          <path className="floor" d={`M0 ${y(Math.max(low, Math.min(high, 0)))}H${width}`} />
          <path
            className="curve-line"
            d={points
              .map((step, i) => `${i === 0 ? 'M' : 'L'}${x(step.step).toFixed(1)} ${y(step[name]).toFixed(1)}`)
              .join('')}
          />
          {at !== null && <path className="crosshair" d={`M${x(shown?.step ?? 0)} 0V${HEIGHT}`} />}
        </svg>
      )}
    </figure>
  );
}

/** What is drawn of a mean: its values, as many points of them as can be told apart, and the smallest and the largest, 0 of none. */
function curveOf(steps: readonly StepMeans[], name: StepMean) {
  const values = steps.map((step) => step[name]).filter((value) => !Number.isNaN(value));
  const every = Math.ceil(steps.length / MOST_POINTS);
  const points = steps.filter((step, i) => !Number.isNaN(step[name]) && (i % every === 0 || i === steps.length - 1));
  let [low, high] = [values[0] ?? 0, values[0] ?? 0];
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return { values, points, bounds: [low, high] as const };
}
