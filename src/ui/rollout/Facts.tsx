import { useMemo } from 'react';
import { channelValue } from './channels.ts';
import { useConfig } from '../knobs/configStore.ts';
import { useCurrent } from '../run/currentRollout.ts';
import { usesCritic } from '../../config/estimators.ts';
import { percent, short, signed } from '../parts/numberText.ts';
import { KINDS } from './kinds.ts';
import { live } from '../run/liveStore.ts';
import { PART_LABELS, partsOfToken } from './rewardParts.ts';
import { TokenExplanations } from './TokenExplanations.tsx';
import { whatPushed } from './pushWords.ts';
import { Distribution } from './Distribution.tsx';
import { PushFacts } from './PushFacts.tsx';
import { PreviewFacts } from './PreviewFacts.tsx';

/** For a recording: it used the clipped surrogate, and only its last epoch is known. */
const RECORDED = { epochs: 1, surrogate: 'clipped' } as const;

/** What the run recorded of one token, and what the update did with it. */
export function Facts({ t }: { readonly t: number }) {
  const { batch, rollout } = useCurrent();
  const i = rollout.row * batch.length + t;
  const config = live.batchConfig;
  const source = useMemo(() => config && { batch, row: rollout.row, config }, [batch, rollout, config]);
  const kind = rollout.kinds[t] ?? 'prompt';
  const inLoss = batch.lossMask[i] !== 0;
  const kept = batch.kept[rollout.row] !== 0;
  return (
    <>
      <p className="line card soft inspected">
        <span className="token big" data-kind={kind} data-loss={inLoss} data-ramp="none">
          <span className="word">{rollout.words[t]}</span>
        </span>
        <span>
          {KINDS[kind].label} · turn {batch.turns[i]} · position {t}
        </span>
      </p>
      {!kept && <p className="chip filtered">not trained (filtered)</p>}
      <p className="inspected-note">{whatPushed(batch, i, kind === 'observation')}</p>
      {inLoss && kept && batch.singles[i] === 0 && <PushFacts batch={batch} i={i} config={config ?? RECORDED} />}
      <PreviewFacts i={i} />
      {source && <Distribution source={source} t={t} />}
      {source && <TokenExplanations source={source} t={t} />}
      <Recorded t={t} />
    </>
  );
}

/** The numbers that the run recorded of the token, each with what it is, or why there is none. */
function Recorded({ t }: { readonly t: number }) {
  const { batch, rollout } = useCurrent();
  const critic = useConfig((s) => usesCritic((s.applied ?? s.wanted).estimator));
  const reference = useConfig((s) => (s.applied ?? s.wanted).klCoef > 0 || (s.applied ?? s.wanted).klRewardCoef > 0);
  const i = rollout.row * batch.length + t;
  const kind = rollout.kinds[t] ?? 'prompt';
  const drawn = kind !== 'prompt' && kind !== 'observation';
  const notDrawn = kind === 'prompt' ? 'n/a: prompt' : 'n/a: observation';
  const outside = batch.lossMask[i] === 0 ? 'n/a: not in the loss' : 'n/a: not measured';
  const or = (text: string, reason: string) => (text === 'n/a' ? reason : text);
  const logprob = drawn || batch.lossMask[i] !== 0 ? batch.logprobs[i] : undefined;
  const view = { batch, config: live.batchConfig, row: rollout.row, moved: null };
  const facts: readonly (readonly [label: string, value: string, hint: string])[] = [
    ['in the loss', batch.lossMask[i] !== 0 ? 'yes' : 'no', 'Whether the token is in the policy loss.'],
    ['carries credit', batch.advantageMask[i] !== 0 ? 'yes' : 'no', 'Whether the token is in the advantage mask.'],
    ['probability', logprob === undefined ? notDrawn : percent(Math.exp(logprob)), 'Before the update.'],
    ['log-prob', or(short(logprob), notDrawn), 'Recomputed by the learner before the update.'],
    [
      'as sampled',
      drawn ? short(batch.sampledLogprobs[i]) : notDrawn,
      'From the sampler; must agree with the learner’s.',
    ],
    ...(batch.drawnLogprobs ? [drawnFact(batch.drawnLogprobs, i, drawn)] : []),
    [
      'entropy',
      or(short(logprob !== undefined ? batch.entropies[i] : undefined), notDrawn),
      'In nats; 0 where only one word is legal.',
    ],
    ['advantage', or(signed(channelValue(view, 'advantage', i)), outside), 'How much better than expected this went.'],
    [
      'push',
      or(signed(channelValue(view, 'gradient', i)), outside),
      '−∂L/∂log π of the token’s own loss term, summed over the epochs. Above 0 it makes the token more likely.',
    ],
    [
      'value',
      critic && drawn ? short(batch.values[i]) : critic ? notDrawn : 'n/a: no critic',
      'The critic’s estimate before the token.',
    ],
    [
      'return',
      critic && drawn ? short(batch.returns[i]) : critic ? notDrawn : 'n/a: no critic',
      'The critic’s training target.',
    ],
    [
      'KL to reference',
      reference ? or(short(klOf(logprob, batch.refLogprobs[i])), notDrawn) : 'n/a: no KL term',
      'log π − log π_ref, one token.',
    ],
    ['reward', kind === 'prompt' ? notDrawn : signed(batch.rewards[i]), 'Paid at this token.'],
    ...partsOfToken(batch, i).map(
      ({ part, amount }) => [`· ${PART_LABELS[part]}`, signed(amount), 'A part of this token’s reward.'] as const,
    ),
  ];
  return (
    <dl className="facts">
      {facts.map(([label, value, hint]) => (
        <div key={label} title={hint}>
          <dt>{label}</dt>
          <dd data-na={value.startsWith('n/a')}>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function drawnFact(drawnLogprobs: Float32Array, i: number, drawn: boolean) {
  const hint = 'Under the distribution it was drawn from, cut by top-k and top-p. Training does not use it.';
  return ['drawn with', drawn ? short(drawnLogprobs[i]) : 'n/a: not drawn', hint] as const;
}

function klOf(logprob: number | undefined, reference: number | undefined): number | undefined {
  return logprob === undefined || reference === undefined ? undefined : logprob - reference;
}
