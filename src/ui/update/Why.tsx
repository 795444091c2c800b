import { type CSSProperties, useMemo, useState } from 'react';
import type { Why as WhyAnswer } from '../../domain/readings.ts';
import type { Question } from '../../wire/questions.ts';
import { Role } from '../../domain/tokens.ts';
import { useAnswer, useLearned } from '../run/runAnswers.ts';
import { arrow, change, exact } from '../parts/numberText.ts';
import type { Source } from '../run/inspect.ts';
import { useCostAccepted } from '../run/acceptedCost.ts';
import { costWords, CostQuestion } from '../run/CostQuestion.tsx';
import { selectRow } from '../shell/selectionStore.ts';
import '../styles/why.css';
import { rolloutName } from './rolloutNames.ts';
import { type Bar, predicted, stepsInWords, whyBars } from './whyBars.ts';

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
