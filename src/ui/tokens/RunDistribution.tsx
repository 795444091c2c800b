import { useEffect, useMemo, useRef, useState } from 'react';
import { Role } from '../../domain/tokens.ts';
import { branchFrom, useBranches } from '../../page/training/branches.ts';
import { type Alternative, Distribution } from './Distribution.tsx';
import { arrow, shortNumber, signedNumber, wholeNumber } from '../../page/words/numberText.ts';
import type { Tensors } from '../../runs/checkpoint.ts';
import { distributionAt, type Reply, type RolloutSource, wordOf } from '../../page/training/inspect.ts';
import { useCostAccepted } from '../../page/view/acceptedCost.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { CostQuestion } from '../parts/CostQuestion.tsx';

const MAX_BARS = 10;
/** Bars for a subword vocabulary, whose most likely tokens often spell the same word differently. */
const MAX_SUBWORD_BARS = 20;
/** A larger vocabulary counts as a subword vocabulary. */
const MAX_WORD_VOCABULARY = 256;

interface Props {
  readonly source: RolloutSource;
  readonly t: number;
  /** Compares the policy at the start of the run, or another run's, with the current one, instead of before and after the rollout's update. */
  readonly since?: 'begun' | Tensors | undefined;
  /** Called when a word is pressed. By default, pressing a word starts a branch at this token. */
  readonly choose?: (token: number) => void;
  readonly disabled?: boolean; // the words can’t be pressed
  /** Names by token, of two rollouts that part here. Their tokens are always listed. */
  readonly owners?: ReadonlyMap<number, string>;
}

const NO_OWNERS: ReadonlyMap<number, string> = new Map();

/** The policy's distribution at a token, with bars before and after the update. Pressing a word continues the rollout with it. */
export function RunDistribution({ source, t, since, choose, disabled = false, owners = NO_OWNERS }: Props) {
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
  return <LoadedDistribution {...{ source, t, since, choose, disabled, owners, answer: reply.answer }} />;
}

type DistributionAnswer = Extract<Reply<'distribution'>, { ok: true }>['answer'];

type LoadedDistributionProps = Pick<Props, 'source' | 't'> & {
  readonly [Name in 'since' | 'choose']: Props[Name] | undefined;
} & Required<Pick<Props, 'disabled' | 'owners'>> & { readonly answer: DistributionAnswer };

function LoadedDistribution({ source, t, since, choose, disabled, owners, answer }: LoadedDistributionProps) {
  const { batch, row } = source;
  const problem = useBranches((s) => s.problem);
  const isOther = typeof since === 'object';
  const drawnToken = batch.tokens[row * batch.length + t] ?? 0;
  const { logprobsBefore, logprobsAfter, shownTokens, legalCount } = useMemo(
    () => likeliestTokens(answer, [drawnToken, ...owners.keys()]),
    [answer, drawnToken, owners],
  );
  const alternatives = shownTokens.map((id): Alternative => {
    const probabilityBefore = logprobsBefore && probabilityOf(logprobsBefore, id);
    return {
      id,
      word: wordOf(source, id),
      probabilityBefore,
      probability: probabilityOf(logprobsAfter, id),
      isDrawn: id === drawnToken,
      owner: owners.get(id),
    };
  });
  return (
    <Distribution
      {...{ alternatives, disabled }}
      unlistedCount={legalCount - shownTokens.length}
      choose={choose ?? ((token) => void branchFrom(source, t, token))}
      barsExplanation={
        <>
          {!logprobsBefore
            ? 'How likely the agent finds each word now.'
            : isOther
              ? 'How likely each word is for B’s policy (pale bar, first number) and for A’s, both as they are now.'
              : since
                ? 'How likely each word was before training (pale bar) and is now (full bar).'
                : 'How likely each word was before the update (pale bar) and is after it (full bar).'}
          {legalCount > shownTokens.length && (
            <span title="Legal: the grammar allows it here">
              {` The ${shownTokens.length} most likely of ${wholeNumber(legalCount)} legal words.`}
            </span>
          )}
        </>
      }
      change={
        logprobsBefore &&
        !isOther && (
          <p className="moved" data-testid="moved">
            {shortNumber(probabilityOf(logprobsBefore, drawnToken))} →{' '}
            {shortNumber(probabilityOf(logprobsAfter, drawnToken))}{' '}
            <b>{changeText(probabilityOf(logprobsAfter, drawnToken) - probabilityOf(logprobsBefore, drawnToken))}</b> ·
            ratio {shortNumber(probabilityOf(logprobsAfter, drawnToken) / probabilityOf(logprobsBefore, drawnToken))}
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

const probabilityOf = (logprobs: Float32Array | null, token: number) => Math.exp(logprobs?.[token] ?? -Infinity);

/**
 * The most likely tokens before or after the update, sorted by their probability after it. The tokens that were drawn are
 * always included. `legalCount` is the number of tokens that the grammar mask allowed.
 */
function likeliestTokens(
  { before, after, now, legal: legalCount }: DistributionAnswer,
  drawnTokens: readonly number[],
) {
  const [logprobsBefore, logprobsAfter] = before && after ? [before, after] : [null, now];
  const maxLogprobs = logprobsAfter.map((logprob, token) => Math.max(logprob, logprobsBefore?.[token] ?? -Infinity));
  const legalTokens = [...logprobsAfter.keys()].filter((token) => Number.isFinite(logprobsAfter[token]));
  const limit = logprobsAfter.length > MAX_WORD_VOCABULARY ? MAX_SUBWORD_BARS : MAX_BARS;
  const others = legalTokens.filter((token) => !drawnTokens.includes(token));
  others.sort((a, b) => maxLogprobs[b]! - maxLogprobs[a]!);
  const shownTokens = [...new Set(drawnTokens), ...others].slice(0, limit);
  shownTokens.sort((a, b) => logprobsAfter[b]! - logprobsAfter[a]!);
  return { logprobsBefore, logprobsAfter, shownTokens, legalCount: legalCount ?? legalTokens.length };
}

function changeText(change: number): string {
  return `${arrow(change)} ${signedNumber(change)}`;
}

/** Requests the distribution whenever the token changes or the run has trained on; undefined until the answer arrives. */
function useDistribution(source: RolloutSource, t: number, since?: Props['since']): Reply<'distribution'> | undefined {
  const [received, setReceived] = useState<{
    readonly source: RolloutSource;
    readonly t: number;
    readonly reply: Reply<'distribution'>;
  }>();
  const version = useLive((s) => s.batch);
  const costAccepted = useCostAccepted('distribution');
  const finalAnswerFor = useRef<{ readonly source: RolloutSource; readonly t: number } | null>(null);
  useEffect(() => {
    if (finalAnswerFor.current?.source === source && finalAnswerFor.current.t === t) return;
    let unmounted = false;
    void distributionAt(source, t, costAccepted, since).then((reply) => {
      if (unmounted) return;
      // the distributions before and after an update are final: don't request them again as the run goes on
      if (!since && reply.ok && reply.answer.before && reply.answer.after) finalAnswerFor.current = { source, t };
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
