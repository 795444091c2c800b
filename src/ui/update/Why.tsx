import { type CSSProperties, useMemo, useState } from 'react';
import type { Why as WhyAnswer, Why } from '../../domain/readings.ts';
import type { Question } from '../../wire/questions.ts';
import { Role } from '../../domain/tokens.ts';
import { useAnswer, useLearned } from '../run/runAnswers.ts';
import { arrow, change, exact, counted } from '../parts/numberText.ts';
import type { Source } from '../run/inspect.ts';
import { useCostAccepted } from '../run/acceptedCost.ts';
import { costWords, CostQuestion } from '../run/CostQuestion.tsx';
import { selectRow } from '../shell/selectionStore.ts';
import '../styles/why.css';
import { rolloutName } from './rolloutNames.ts';
import type { RunConfig } from '../../config/fields.ts';

interface Subject extends Source {
  readonly t: number;
  readonly anyway: boolean;
  readonly apart: boolean; // by rollout, whatever that takes
}

const ask = ({ batch, row, t, anyway, apart }: Subject): Question => ({
  ...{ kind: 'why', update: batch.update, row, position: t, anyway, apart },
});

/** Why an update moved a token: its change in log-probability, split by who and what caused it. */
export function Why({ source, t }: { readonly source: Source; readonly t: number }) {
  const { batch, row } = source;
  const learned = useLearned(batch.update);
  const i = row * batch.length + t;
  const moves = batch.roles[i] === Role.action || batch.lossMask[i] !== 0;
  const anyway = useCostAccepted('why');
  const [split, setSplit] = useState<number | null>(null); // the token that is told apart by rollout
  const apart = split === i;
  const subject = useMemo(
    () => (learned && moves ? { ...source, t, anyway, apart } : null),
    [learned, moves, source, t, anyway, apart],
  );
  const asked = useAnswer('why', subject, ask);
  if (!moves) return <p className="faint">The environment wrote this token, and it is not in the loss.</p>;
  if (!asked) return <p className="faint waiting">Repeating the update, rollout by rollout…</p>;
  if (!asked.reply.ok) return <CostQuestion kind="why" reply={asked.reply} />;
  const { why, apart: cost } = asked.reply.answer;
  if (!why) return <p className="faint">The weights of this update are no longer kept.</p>;
  return (
    <>
      <Bars
        key={`${asked.subject.row} ${asked.subject.t}`}
        why={why}
        source={asked.subject}
        busy={asked.subject !== subject}
      />
      {cost && (
        <p className="faint">
          Splitting by rollout takes {costWords(cost)}.{' '}
          <button type="button" disabled={apart} onClick={() => setSplit(i)}>
            {apart ? 'Repeating the update…' : 'Split it by rollout'}
          </button>
        </p>
      )}
    </>
  );
}

interface BarsProps {
  readonly why: WhyAnswer;
  readonly source: Source;
  readonly busy: boolean; // what has been chosen since is yet to be answered
}

function Bars({ why, source, busy }: BarsProps) {
  const { batch, row } = source;
  const [left, setLeft] = useState<ReadonlySet<number>>(new Set());
  const bars = useMemo(
    () => whyBars(why, (each) => (each === row ? 'this rollout' : rolloutName(batch, each))),
    [why, batch, row],
  );
  const most = Math.max(1e-9, ...bars.map(({ part }) => Math.abs(part)));
  const measured = why.after - why.before;
  const all = predicted(why, new Set());
  const now = predicted(why, left);
  const toggle = (each: number) => {
    const next = new Set(left);
    if (!next.delete(each)) next.add(each);
    setLeft(next);
  };
  return (
    <div className="why" data-testid="why" aria-busy={busy}>
      <p>
        log π {exact(why.before)} → {exact(why.after)}:{' '}
        <b data-testid="why-measured">
          {arrow(measured)} {change(measured)}
        </b>{' '}
        nats in {stepsInWords(why.steps, source.config)}
      </p>
      <ul>
        {bars.map((bar) => (
          <BarRow key={bar.key} {...{ bar, most }} out={bar.row !== null && left.has(bar.row)} onToggle={toggle} />
        ))}
      </ul>
      <p className="why-sum" aria-live="polite">
        {left.size === 0 ? 'Predicted' : `Predicted without the ${left.size === 1 ? 'one' : left.size} you left out:`}{' '}
        <b data-testid="why-predicted">{change(now)}</b>
        {left.size === 0
          ? `, measured ${change(measured)}; the rest (${change(why.residual)}) is curvature.`
          : `, ${now > all ? '▲ higher' : '▼ lower'} by ${change(Math.abs(now - all)).slice(1)}.`}
      </p>
    </div>
  );
}

interface BarProps {
  readonly bar: Bar;
  readonly most: number; // the largest part
  readonly out: boolean; // left out of the prediction
  readonly onToggle: (row: number) => void;
}

function BarRow({ bar: { key, row, label, hint, part }, most, out, onToggle }: BarProps) {
  return (
    <li
      className="why-bar"
      data-cause={key}
      data-sign={part >= 0 ? 'up' : 'down'}
      data-out={out}
      title={hint}
      style={{ '--share': (Math.abs(part) / most).toFixed(3) } as CSSProperties}
    >
      {row === null ? (
        <span className="why-label">{label}</span>
      ) : (
        <>
          <label className="why-check">
            <input type="checkbox" checked={!out} aria-label={`Count ${label}`} onChange={() => onToggle(row)} />
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
        {arrow(part)} {change(part)}
      </span>
    </li>
  );
}

/** One cause of a change, as a bar. */
export interface Bar {
  readonly key: string;
  readonly row: number | null; // the rollout it stands for; null: no single one
  readonly label: string;
  readonly hint: string;
  readonly part: number; // nats
}

const MOST_ROLLOUTS = 7;

/**
 * The parts of a change, the largest rollouts first, then all other rollouts in one, then what is no rollout; together they are
 * the measured change. Parts that a run does not have are left out; momentum and the residual never are.
 */
export function whyBars(why: Why, nameOf: (row: number) => string): readonly Bar[] {
  const rows = [...why.rollouts.keys()].filter((row) => why.rollouts[row] !== 0);
  const partOf = (row: number) => why.rollouts[row] ?? 0;
  rows.sort((a, b) => Math.abs(partOf(b)) - Math.abs(partOf(a)));
  // one that is left over is shown as itself
  const shown = rows.length === MOST_ROLLOUTS + 1 ? rows : rows.slice(0, MOST_ROLLOUTS);
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
  add('value', 'critic', 'The value loss, through the shared trunk.', why.value);
  add('decay', 'weight decay', 'The pull of every weight towards 0.', why.decay);
  add('residual', 'residual', 'Curvature: the part that no first-order term explains.', why.residual, true);
  return bars;
}

/** The first-order prediction without the rollouts in `left`; without the residual, which is no prediction. */
export function predicted({ before, after, residual, rollouts }: Why, left: ReadonlySet<number>): number {
  return [...left].reduce((sum, row) => sum - (rollouts[row] ?? 0), after - before - residual);
}

/** An update's optimizer steps as epochs × minibatches. A token's own term, its push, acts in one step of each epoch. */
export function stepsInWords(
  steps: number,
  { epochs, minibatches }: Pick<RunConfig, 'epochs' | 'minibatches'>,
): string {
  const words = counted(steps, 'optimizer step');
  if (steps === 1 || steps !== epochs * minibatches) return words;
  const parts = `${counted(epochs, 'epoch', 'epochs')} × ${counted(minibatches, 'minibatch', 'minibatches')}`;
  return `${words} (${parts}; this token’s own push acts once in each epoch)`;
}
