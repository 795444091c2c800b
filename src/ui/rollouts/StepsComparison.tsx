import { useMemo, useState } from 'react';
import { nearestStep, type StepMeans } from '../../rollouts/select.ts';
import { percent, shortNumber } from '../../page/words/numberText.ts';
import { RecordHead } from './RecordView.tsx';
import { RecordTokens } from './RecordTokens.tsx';
import { table, useRollouts } from '../../page/files/rolloutFileStore.ts';
import { useReadRollouts } from '../../page/files/useRead.ts';

export function StepsComparison({ list, steps }: Pick<Props, 'list' | 'steps'>) {
  const chosenSteps = useRollouts((s) => s.comparedSteps);
  const [first, last] = [steps[0], steps.at(-1)];
  if (!first || !last || first === last) return <p className="empty">Comparing needs at least two steps.</p>;
  const defaultSteps = [first.step, last.step] as const;
  const shownSteps = [0, 1].map((side) => {
    const chosenStep = chosenSteps[side];
    return steps.find(({ step }) => step === chosenStep)?.step ?? defaultSteps[side]!;
  });
  return (
    <div className="beside" data-testid="steps-look" role="region" aria-label="Two steps, side by side" tabIndex={0}>
      {shownSteps.map((step, side) => (
        <Side
          key={side}
          {...{ list, steps, step, side }}
          choose={(to) =>
            useRollouts.setState({
              comparedSteps: side === 0 ? [to, shownSteps[1] ?? null] : [shownSteps[0] ?? null, to],
            })
          }
        />
      ))}
    </div>
  );
}

interface Props {
  readonly list: Int32Array;
  readonly steps: readonly StepMeans[];
  readonly step: number;
  readonly side: number;
  readonly choose: (step: number) => void;
}

const MAX_OPTIONS = 500;

/** Choice of a step from a menu. With too many steps for a menu, an input that takes the nearest step. */
export function StepChoice({ steps, step, choose }: Pick<Props, 'steps' | 'step' | 'choose'>) {
  if (steps.length > MAX_OPTIONS) {
    return (
      <input
        key={step}
        type="number"
        defaultValue={step}
        onBlur={({ target }) => choose(steps[nearestStep(steps, target.valueAsNumber)]?.step ?? step)}
        onKeyDown={({ key, currentTarget }) => {
          if (key === 'Enter') currentTarget.blur();
        }}
      />
    );
  }
  return (
    <select value={step} onChange={({ target }) => choose(Number(target.value))}>
      {steps.map((each) => (
        <option key={each.step} value={each.step}>
          step {each.step}
        </option>
      ))}
    </select>
  );
}

function Side({ list, steps, step, side, choose }: Props) {
  const rows = useMemo(() => Array.from(list.filter((row) => table.columns.step[row] === step)), [list, step]);
  const [chosenIndex, setChosenIndex] = useState(0);
  const index = Math.min(chosenIndex, rows.length - 1);
  const [read] = useReadRollouts(rows.slice(index, index + 1));
  const means = steps.find((each) => each.step === step);
  const name = side === 0 ? 'left' : 'right';
  return (
    <section className="panel record col gap-4 thin" aria-label={`Step ${step}`}>
      <div className="row">
        <label>
          <span className="visually-hidden">Step on the {name}</span>
          <StepChoice {...{ steps, step, choose }} />
        </label>
        <button
          type="button"
          className="icon-button small"
          disabled={index <= 0}
          aria-label={`Previous rollout on the ${name}`}
          onClick={() => setChosenIndex(index - 1)}
        >
          ‹
        </button>
        <span className="small soft">
          {index + 1} of {rows.length}
        </span>
        <button
          type="button"
          className="icon-button small"
          disabled={index >= rows.length - 1}
          aria-label={`Next rollout on the ${name}`}
          onClick={() => setChosenIndex(index + 1)}
        >
          ›
        </button>
      </div>
      {means && (
        <p className="small soft">
          mean reward <b>{shortNumber(means.reward)}</b> · success <b>{percent(means.success)}</b> · turns{' '}
          <b>{shortNumber(means.turns)}</b> · calls <b>{shortNumber(means.toolCalls)}</b> · length{' '}
          <b>{shortNumber(means.length)}</b>
        </p>
      )}
      {read && 'record' in read && (
        <>
          <RecordHead record={read.record} row={read.row} brief />
          <RecordTokens record={read.record} channel={null} brief />
        </>
      )}
    </section>
  );
}
