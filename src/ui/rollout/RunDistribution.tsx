import { useEffect, useMemo, useRef, useState } from 'react';
import { Role } from '../../domain/tokens.ts';
import { branchFrom, useBranches } from './branches.ts';
import { type Choice, Distribution } from './Distribution.tsx';
import { arrow, short, signed, whole } from '../parts/numberText.ts';
import { distributionAt, type Reply, type Source, wordOf } from '../run/inspect.ts';
import { useCostAccepted } from '../run/acceptedCost.ts';
import { useLive } from '../run/liveStore.ts';
import { CostQuestion } from '../run/CostQuestion.tsx';

const MOST_BARS = 10;
/** Of a vocabulary of text, in which the likeliest often say the same in other spellings. */
const MOST_OF_TEXT = 20;
const TEXT_VOCABULARY = 256;

interface Props {
  readonly source: Source;
  readonly t: number;
  /** Bars of before any training and of now, not of before and after the rollout's update. */
  readonly since?: 'begun';
  /** What a pressed word does; without it a branch grows from it. */
  readonly choose?: (token: number) => void;
  readonly busy?: boolean; // no word can be chosen now
}

/** What the policy might have drawn at a token: bars before and after the update. Each is a way on that was not taken. */
export function RunDistribution({ source, t, since, choose, busy = false }: Props) {
  const { batch, row } = source;
  const i = row * batch.length + t;
  const reply = useDistribution(source, t, since);
  if (batch.roles[i] !== Role.action) {
    return <p className="distribution faint">The environment wrote this token: the policy did not choose it.</p>;
  }
  if (!reply) return <div className="distribution waiting" aria-busy="true" />;
  if (!reply.ok) {
    return (
      <div className="distribution">
        <CostQuestion kind="distribution" reply={reply} />
      </div>
    );
  }
  return <Options {...{ source, t, since, choose, busy, answer: reply.answer }} />;
}

type Answered = Extract<Reply<'distribution'>, { ok: true }>['answer'];

type OptionsProps = Pick<Props, 'source' | 't'> & {
  readonly [Name in 'since' | 'choose']: Props[Name] | undefined;
} & { readonly busy: boolean; readonly answer: Answered };

function Options({ source, t, since, choose, busy, answer }: OptionsProps) {
  const { batch, row } = source;
  const problem = useBranches((s) => s.problem);
  const drawn = batch.tokens[row * batch.length + t] ?? 0;
  const { left, right, shown, legal } = useMemo(() => likeliest(answer, drawn), [answer, drawn]);
  const choices = shown.map((id): Choice => {
    const before = left && p(left, id);
    return { id, word: wordOf(source, id), before, p: p(right, id), drawn: id === drawn };
  });
  return (
    <Distribution
      {...{ choices, busy }}
      others={legal - shown.length}
      choose={choose ?? ((token) => void branchFrom(source, t, token))}
      about={
        <>
          {!left
            ? 'How likely the agent finds each word now.'
            : since
              ? 'How likely each word was before training (pale bar) and is now (full bar).'
              : 'How likely each word was before the update (pale bar) and is after it (full bar).'}
          {legal > shown.length && (
            <span title="Legal: the grammar allows it here">
              {` The ${shown.length} most likely of ${whole(legal)} legal words.`}
            </span>
          )}
        </>
      }
      change={
        left && (
          <p className="moved" data-testid="moved">
            {short(p(left, drawn))} → {short(p(right, drawn))} <b>{shifted(p(right, drawn) - p(left, drawn))}</b> ·
            ratio {short(p(right, drawn) / p(left, drawn))}
          </p>
        )
      }
    >
      {!choose && <Temperature usual={source.config.temperature} />}
      {!choose && problem && (
        <p className="note" role="alert">
          {problem}
        </p>
      )}
    </Distribution>
  );
}

const p = (logprobs: Float32Array | null, token: number) => Math.exp(logprobs?.[token] ?? -Infinity);

/**
 * The tokens that were likeliest before or after the update, the likeliest after it first. The token that was drawn is always
 * among them. `legal` is the number of tokens that the grammar allowed.
 */
function likeliest({ before, after, now, legal: told }: Answered, drawn: number) {
  const [left, right] = before && after ? [before, after] : [null, now];
  const sizes = right.map((logprob, token) => Math.max(logprob, left?.[token] ?? -Infinity));
  const legal = [...right.keys()].filter((token) => Number.isFinite(right[token]));
  const most = right.length > TEXT_VOCABULARY ? MOST_OF_TEXT : MOST_BARS;
  const shown = legal.sort((a, b) => sizes[b]! - sizes[a]!).slice(0, most);
  if (!shown.includes(drawn)) shown.splice(-1, 1, drawn);
  shown.sort((a, b) => right[b]! - right[a]!); // as their numbers fall
  return { left, right, shown, legal: told ?? legal.length };
}

function shifted(change: number): string {
  return `${arrow(change)} ${signed(change)}`;
}

/** Asks for the distribution when another token is looked at or the run has moved on; undefined while it is asked for. */
function useDistribution(source: Source, t: number, since?: 'begun'): Reply<'distribution'> | undefined {
  const [got, setGot] = useState<{
    readonly source: Source;
    readonly t: number;
    readonly reply: Reply<'distribution'>;
  }>();
  const version = useLive((s) => s.batchVersion);
  const anyway = useCostAccepted('distribution');
  const settled = useRef<{ readonly source: Source; readonly t: number } | null>(null);
  useEffect(() => {
    if (settled.current?.source === source && settled.current.t === t) return;
    let unmounted = false;
    void distributionAt(source, t, anyway, since).then((reply) => {
      if (unmounted) return;
      // before and after an update stay as they are, however far the run has come since
      if (!since && reply.ok && reply.answer.before && reply.answer.after) settled.current = { source, t };
      setGot({ source, t, reply });
    });
    return () => {
      unmounted = true;
    };
  }, [source, t, since, version, anyway]);
  return got?.source === source && got.t === t ? got.reply : undefined;
}

/** Temperature of the rollout that is played on; the run keeps its own. */
function Temperature({ usual }: { readonly usual: number }) {
  const chosen = useBranches((s) => s.temperature);
  return (
    <label className="row between soft branch-temperature">
      <span>Temperature from here on</span>
      <input
        type="number"
        className="knob-value"
        min={0.05}
        max={5}
        step={0.05}
        value={chosen ?? usual}
        onChange={(event) => {
          const value = event.target.valueAsNumber;
          useBranches.setState({ temperature: value >= 0.05 && value <= 5 ? value : null });
        }}
      />
    </label>
  );
}
