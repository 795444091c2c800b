import { useEffect, useMemo, useRef, useState } from 'react';
import { Role } from '../../domain/tokens.ts';
import { branchFrom, useBranches } from './branches.ts';
import { type Choice, Distribution } from './Distribution.tsx';
import { arrow, short, signed, whole } from '../parts/numberText.ts';
import { distributionAt, type Reply, type Source, wordOf } from '../run/inspect.ts';
import { useCostAccepted } from '../run/acceptedCost.ts';
import { useLive } from '../run/liveStore.ts';
import { CostQuestion } from '../run/CostQuestion.tsx';

const MAX_BARS = 10;
/** Bars for a subword vocabulary, whose most likely tokens often spell the same word differently. */
const MAX_SUBWORD_BARS = 20;
/** A larger vocabulary counts as a subword vocabulary. */
const MAX_WORD_VOCABULARY = 256;

interface Props {
  readonly source: Source;
  readonly t: number;
  /**
   * 'begun': compare the policy at the start of the run with the current one, instead of before and after the
   * rollout's update.
   */
  readonly since?: 'begun';
  /** Called when a word is pressed; by default a branch starts there. */
  readonly choose?: (token: number) => void;
  readonly busy?: boolean; // words are disabled
}

/**
 * The policy's distribution at a token, with bars before and after the update. Pressing a word continues the rollout
 * with it.
 */
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

type DistributionAnswer = Extract<Reply<'distribution'>, { ok: true }>['answer'];

type OptionsProps = Pick<Props, 'source' | 't'> & {
  readonly [Name in 'since' | 'choose']: Props[Name] | undefined;
} & { readonly busy: boolean; readonly answer: DistributionAnswer };

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
            {short(p(left, drawn))} → {short(p(right, drawn))} <b>{changeText(p(right, drawn) - p(left, drawn))}</b> ·
            ratio {short(p(right, drawn) / p(left, drawn))}
          </p>
        )
      }
    >
      {!choose && <Temperature runTemperature={source.config.temperature} />}
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
 * The most likely tokens before or after the update, sorted by their probability after it. The drawn token is always
 * included. `legal` is the number of tokens that the grammar allowed.
 */
function likeliest({ before, after, now, legal: legalCount }: DistributionAnswer, drawn: number) {
  const [left, right] = before && after ? [before, after] : [null, now];
  const maxLogprobs = right.map((logprob, token) => Math.max(logprob, left?.[token] ?? -Infinity));
  const legal = [...right.keys()].filter((token) => Number.isFinite(right[token]));
  const limit = right.length > MAX_WORD_VOCABULARY ? MAX_SUBWORD_BARS : MAX_BARS;
  const shown = legal.sort((a, b) => maxLogprobs[b]! - maxLogprobs[a]!).slice(0, limit);
  if (!shown.includes(drawn)) shown.splice(-1, 1, drawn);
  shown.sort((a, b) => right[b]! - right[a]!);
  return { left, right, shown, legal: legalCount ?? legal.length };
}

function changeText(change: number): string {
  return `${arrow(change)} ${signed(change)}`;
}

/**
 * Requests the distribution whenever the token changes or the run has trained on; undefined until the answer arrives.
 */
function useDistribution(source: Source, t: number, since?: 'begun'): Reply<'distribution'> | undefined {
  const [received, setReceived] = useState<{
    readonly source: Source;
    readonly t: number;
    readonly reply: Reply<'distribution'>;
  }>();
  const version = useLive((s) => s.batchVersion);
  const costAccepted = useCostAccepted('distribution');
  const settled = useRef<{ readonly source: Source; readonly t: number } | null>(null);
  useEffect(() => {
    if (settled.current?.source === source && settled.current.t === t) return;
    let unmounted = false;
    void distributionAt(source, t, costAccepted, since).then((reply) => {
      if (unmounted) return;
      // the distributions before and after an update are final: don't request them again as the run goes on
      if (!since && reply.ok && reply.answer.before && reply.answer.after) settled.current = { source, t };
      setReceived({ source, t, reply });
    });
    return () => {
      unmounted = true;
    };
  }, [source, t, since, version, costAccepted]);
  return received?.source === source && received.t === t ? received.reply : undefined;
}

/** Input for the temperature of branches; the run keeps its own. */
function Temperature({ runTemperature }: { readonly runTemperature: number }) {
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
        value={chosen ?? runTemperature}
        onChange={(event) => {
          const value = event.target.valueAsNumber;
          useBranches.setState({ temperature: value >= 0.05 && value <= 5 ? value : null });
        }}
      />
    </label>
  );
}
