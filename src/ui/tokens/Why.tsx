import { type CSSProperties, useMemo, useState } from 'react';
import type { Why as WhyAnswer, Why } from '../../domain/readings.ts';
import type { Question } from '../../wire/questions.ts';
import { Role } from '../../domain/tokens.ts';
import { useAnswer, useUpdateFinished } from '../../page/training/runAnswers.ts';
import { arrow, signedChange, exactNumber, counted } from '../../page/words/numberText.ts';
import type { RolloutSource } from '../../page/training/inspect.ts';
import { useCostAccepted } from '../../page/view/acceptedCost.ts';
import { costWords, CostQuestion } from '../parts/CostQuestion.tsx';
import { selectRow } from '../../page/view/selectionStore.ts';
import { isPredicted } from '../../page/rollout/channels.ts';
import { rolloutName } from '../../page/words/rolloutNames.ts';
import type { RunConfig } from '../../config/fields.ts';
import './why.css';

interface Subject extends RolloutSource {
  readonly t: number;
  readonly anyway: boolean;
  readonly byRollout: boolean; // true: split by rollout, even if that is expensive
}

const ask = ({ batch, row, t, anyway, byRollout }: Subject): Question => ({
  ...{ kind: 'why', update: batch.update, row, position: t, anyway, byRollout },
});

export function Why({ source, t }: { readonly source: RolloutSource; readonly t: number }) {
  const { batch, row } = source;
  const learned = useUpdateFinished(batch.update);
  const i = row * batch.length + t;
  const canExplain = batch.roles[i] === Role.action || batch.lossMask[i] !== 0 || isPredicted(batch, i);
  const anyway = useCostAccepted('why');
  const [split, setSplit] = useState<number | null>(null); // the token whose change is split by rollout
  const byRollout = split === i;
  const subject = useMemo(
    () => (learned && canExplain ? { ...source, t, anyway, byRollout } : null),
    [learned, canExplain, source, t, anyway, byRollout],
  );
  const asked = useAnswer('why', subject, ask);
  if (!canExplain) return <p className="faint">The environment wrote this token, and it is not in the loss.</p>;
  if (!asked) return <p className="faint waiting">Repeating the update, rollout by rollout…</p>;
  if (!asked.reply.ok) return <CostQuestion kind="why" reply={asked.reply} />;
  const { why, splitCost } = asked.reply.answer;
  if (!why) return <p className="faint">The weights of this update are no longer kept.</p>;
  return (
    <>
      <Bars
        key={`${asked.subject.row} ${asked.subject.t}`}
        why={why}
        source={asked.subject}
        busy={asked.subject !== subject}
      />
      {splitCost && (
        <p className="faint">
          Splitting by rollout takes {costWords(splitCost)}.{' '}
          <button type="button" disabled={byRollout} onClick={() => setSplit(i)}>
            {byRollout ? 'Repeating the update…' : 'Split it by rollout'}
          </button>
        </p>
      )}
    </>
  );
}

interface BarsProps {
  readonly why: WhyAnswer;
  readonly source: RolloutSource;
  readonly busy: boolean; // whether the answer for a newer selection is still missing
}

function Bars({ why, source, busy }: BarsProps) {
  const { batch, row } = source;
  const [omitted, setOmitted] = useState<ReadonlySet<number>>(new Set()); // rows left out of the prediction
  const bars = useMemo(
    () => whyBars(why, (each) => (each === row ? 'this rollout' : rolloutName(batch, each))),
    [why, batch, row],
  );
  const largestPart = Math.max(1e-9, ...bars.map(({ part }) => Math.abs(part)));
  const measured = why.after - why.before;
  const fullPrediction = predicted(why, new Set());
  const prediction = predicted(why, omitted);
  const toggle = (each: number) => {
    const next = new Set(omitted);
    if (!next.delete(each)) next.add(each);
    setOmitted(next);
  };
  return (
    <div className="why" data-testid="why" aria-busy={busy}>
      <p>
        log π {exactNumber(why.before)} → {exactNumber(why.after)}:{' '}
        <b data-testid="why-measured">
          {arrow(measured)} {signedChange(measured)}
        </b>{' '}
        nats in {stepsInWords(why.steps, source.config)}
      </p>
      <ul>
        {bars.map((bar) => (
          <BarRow
            key={bar.key}
            {...{ bar, largestPart }}
            isOmitted={bar.row !== null && omitted.has(bar.row)}
            onToggle={toggle}
          />
        ))}
      </ul>
      <p className="why-sum" aria-live="polite">
        {omitted.size === 0
          ? 'Predicted'
          : `Predicted without the ${omitted.size === 1 ? 'one' : omitted.size} you left out:`}{' '}
        <b data-testid="why-predicted">{signedChange(prediction)}</b>
        {omitted.size === 0
          ? `, measured ${signedChange(measured)}; the rest (${signedChange(why.residual)}) is curvature.`
          : `, ${prediction > fullPrediction ? '▲ higher' : '▼ lower'} by ${signedChange(Math.abs(prediction - fullPrediction)).slice(1)}.`}
      </p>
    </div>
  );
}

interface BarProps {
  readonly bar: Bar;
  readonly largestPart: number; // size of the largest part, nats
  readonly isOmitted: boolean; // whether its rollout is left out of the prediction
  readonly onToggle: (row: number) => void;
}

function BarRow({ bar: { key, row, label, hint, part }, largestPart, isOmitted, onToggle }: BarProps) {
  return (
    <li
      className="why-bar"
      data-cause={key}
      data-sign={part >= 0 ? 'up' : 'down'}
      data-out={isOmitted}
      title={hint}
      style={{ '--share': (Math.abs(part) / largestPart).toFixed(3) } as CSSProperties}
    >
      {row === null ? (
        <span className="why-label">{label}</span>
      ) : (
        <>
          <label className="why-check">
            <input type="checkbox" checked={!isOmitted} aria-label={`Count ${label}`} onChange={() => onToggle(row)} />
          </label>
          <button type="button" className="quiet why-label" title="Show this rollout" onClick={() => selectRow(row)}>
            {label}
          </button>
        </>
      )}
      <span className="why-room" aria-hidden="true">
        <span className="why-fill" />
      </span>
      <span className="number why-part">
        {arrow(part)} {signedChange(part)}
      </span>
    </li>
  );
}

export interface Bar {
  readonly key: string;
  readonly row: number | null; // the rollout that it represents; null: not a single rollout
  readonly label: string;
  readonly hint: string;
  readonly part: number; // nats
}

const MAX_ROLLOUTS = 7; // rollouts with a bar of their own

/**
 * The parts of a change as bars: the rollouts with the largest parts first, then all other rollouts in one bar, then
 * the other causes. They add up to the measured change. Parts that are 0 are left out, except momentum (unless all
 * gradients are in one part) and the residual.
 */
export function whyBars(why: Why, nameOf: (row: number) => string): readonly Bar[] {
  const rows = [...why.rollouts.keys()].filter((row) => why.rollouts[row] !== 0);
  const partOf = (row: number) => why.rollouts[row] ?? 0;
  rows.sort((a, b) => Math.abs(partOf(b)) - Math.abs(partOf(a)));
  // a single remaining rollout gets its own bar
  const shown = rows.length === MAX_ROLLOUTS + 1 ? rows : rows.slice(0, MAX_ROLLOUTS);
  const rest = rows.slice(shown.length);
  const bars = shown.map((row): Bar => {
    const hint = 'The policy loss of this rollout’s tokens.';
    return { key: `row ${row}`, row, label: nameOf(row), hint, part: partOf(row) };
  });
  const add = (key: string, label: string, hint: string, part: number, always = false) => {
    if (always || part !== 0) bars.push({ key, row: null, label, hint, part });
  };
  const others = rest.reduce((sum, row) => sum + partOf(row), 0);
  add('others', `${rest.length} other rollouts`, 'Their policy loss, summed.', others, rest.length > 0);
  add('elsewhere', 'rollouts of other tasks', 'Their policy loss; they are not in the recording.', why.elsewhere ?? 0);
  const together = why.together ?? 0;
  const several = why.steps === 1 ? '' : ', with Adam’s momentum and weight decay';
  add('together', 'all its gradients', `All rollouts and terms of this update together${several}.`, together);
  if (why.together === undefined || why.steps === 1)
    add('momentum', 'momentum', 'Adam’s momentum from earlier updates.', why.momentum, true);
  add('kl', 'KL', 'The KL term, towards the reference policy.', why.kl);
  add('entropy', 'entropy', 'The entropy bonus.', why.entropy);
  add('observation', 'observations', 'The observation loss: predicting what the tools answered.', why.observation ?? 0);
  add('value', 'critic', 'The value loss, through the shared trunk.', why.value);
  add('decay', 'weight decay', 'The pull of every weight towards 0.', why.decay);
  add('residual', 'residual', 'Curvature: the part that no first-order term explains.', why.residual, true);
  return bars;
}

/** The first-order prediction without the rollouts in `omitted`. The residual isn't part of it. */
export function predicted({ before, after, residual, rollouts }: Why, omitted: ReadonlySet<number>): number {
  return [...omitted].reduce((sum, row) => sum - (rollouts[row] ?? 0), after - before - residual);
}

/** The number of an update's optimizer steps in words, as epochs × minibatches. A token's own push acts in only one step of each epoch. */
export function stepsInWords(
  steps: number,
  { epochs, minibatches }: Pick<RunConfig, 'epochs' | 'minibatches'>,
): string {
  const words = counted(steps, 'optimizer step');
  if (steps === 1 || steps !== epochs * minibatches) return words;
  const parts = `${counted(epochs, 'epoch', 'epochs')} × ${counted(minibatches, 'minibatch', 'minibatches')}`;
  return `${words} (${parts}; this token’s own push acts once in each epoch)`;
}
