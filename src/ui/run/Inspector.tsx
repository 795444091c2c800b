import { useEffect, useRef, useMemo, lazy, type ReactNode, Suspense, useState } from 'react';
import { useShownRollout } from '../../page/view/currentRollout.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { auditMask } from '../../page/rollout/readRollout.ts';
import { selectToken, useSelection } from '../../page/view/selectionStore.ts';
import { BREAKPOINTS } from '../../page/browser/breakpoints.ts';
import { Icon } from '../parts/Icon.tsx';
import { counted, wholeNumber, percent, shortNumber, signedNumber, exactNumber } from '../../page/words/numberText.ts';
import { DRIFT_TITLE } from '../../page/rollout/channelLooks.ts';
import { isPredicted, channelValue, type ChannelView, pushAt, epochsOf } from '../../page/rollout/channels.ts';
import { useConfig } from '../../page/knobs/configStore.ts';
import { comparesTurns, ESTIMATORS, usesCritic } from '../../config/estimators.ts';
import { stateBefore, turnsByState, turnStates } from '../../domain/states.ts';
import { learnedGroups } from '../../domain/tokenMasks.ts';
import { KINDS } from '../../page/rollout/kinds.ts';
import { PART_LABELS, partsOfToken } from '../../page/rollout/rewardParts.ts';
import { RunDistribution } from '../tokens/RunDistribution.tsx';
import type { RunConfig } from '../../config/fields.ts';
import { pushFormula } from '../../config/formula.ts';
import { type BatchView, shareAt } from '../../domain/batch.ts';
import type { RolloutSource } from '../../page/training/inspect.ts';
import '../tokens/why.css';

const isPhone = () => matchMedia(BREAKPOINTS.phone).matches;

export function Inspector() {
  const selected = useSelection((s) => s.token);
  const { batch, rollout } = useShownRollout();
  const { length } = rollout.words;
  const token = selected !== null && selected < length ? selected : null;
  // on a phone the inspector covers part of the page: scroll the selected token into the visible part
  useEffect(() => {
    if (token === null || !isPhone()) return;
    document.querySelector('.turns .token[aria-pressed="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [token]);
  const lastUpdate = useRef(batch.update);
  // On a phone, a new batch closes the inspector: this position now holds another token, and the panel would cover the
  // new rollout.
  useEffect(() => {
    if (lastUpdate.current !== batch.update && !useLive.getState().isExample && isPhone()) selectToken(null, null);
    lastUpdate.current = batch.update;
  }, [batch]);
  return (
    <section
      className="inspector small scrolls panel"
      aria-label="Inspector"
      data-open={token !== null}
      data-testid="inspector"
    >
      <div className="panel-head">
        <h2>Token</h2>
        {token !== null && (
          <button
            type="button"
            className="quiet icon-button small"
            aria-label="Close inspector"
            onClick={() => selectToken(null, null)}
          >
            <Icon name="cross" />
          </button>
        )}
      </div>
      {token === null ? (
        <p className="empty">Choose a token to see what the update did to it.</p>
      ) : (
        <TokenFacts t={token} />
      )}
      <LossMaskCheck />
    </section>
  );
}

/** Check of the loss mask, counted on the tensors that the trainer used rather than derived from the knobs. */
function LossMaskCheck() {
  const { batch } = useShownRollout();
  if (batch.rows === 0) return null; // nothing to count
  const { trained, observations, observationsTrained } = auditMask(batch);
  return (
    <div className="card audit" data-testid="audit">
      <h3>Check of the loss mask · {useLive.getState().isExample ? 'recording' : `update ${batch.update}`}</h3>
      <p>
        <b>{wholeNumber(trained)}</b> tokens of {counted(batch.rows, 'rollout')} in the loss
      </p>
      <p data-bad={observationsTrained > 0}>
        tokens of the tool in the loss:{' '}
        <span className="one-line">
          <b>{wholeNumber(observationsTrained)}</b> of {wholeNumber(observations)}{' '}
          {observationsTrained === 0 ? '✓' : '▲'}
        </span>
      </p>
    </div>
  );
}

/** Knobs assumed for a recording: it used the clipped surrogate, and only its last epoch is known. */
const RECORDING_KNOBS = { epochs: 1, surrogate: 'clipped', correction: 'none' } as const;

function TokenFacts({ t }: { readonly t: number }) {
  const { batch, rollout } = useShownRollout();
  const i = rollout.row * batch.length + t;
  const config = useLive.getState().batchConfig;
  const source = useMemo(() => config && { batch, row: rollout.row, config }, [batch, rollout, config]);
  const kind = rollout.kinds[t] ?? 'prompt';
  const inLoss = batch.lossMask[i] !== 0;
  const lossState = isPredicted(batch, i) ? 'predicted' : inLoss;
  const isKept = batch.kept[rollout.row] !== 0;
  return (
    <>
      <p className="line card soft inspected">
        <span className="token big" data-kind={kind} data-loss={lossState} data-ramp="none" translate="no">
          <span className="word">{rollout.words[t]}</span>
        </span>
        <span>
          {KINDS[kind].label} · turn {batch.turns[i]} · position {t}
        </span>
      </p>
      {!isKept && <p className="chip filtered">not trained (filtered)</p>}
      <p className="inspected-note">{pushReason(batch, i, kind === 'observation')}</p>
      {batch.drifted?.[i] === 1 && <p className="inspected-note">{DRIFT_TITLE}</p>}
      {inLoss && isKept && batch.singles[i] === 0 && (
        <PushFacts batch={batch} i={i} config={config ?? RECORDING_KNOBS} />
      )}
      <PreviewFacts i={i} />
      {source && <RunDistribution source={source} t={t} />}
      {source && <TokenExplanations source={source} t={t} />}
      <RecordedNumbers t={t} />
    </>
  );
}

/** The numbers that the run recorded for a token. Each has a hint; a missing one shows the reason. */
function RecordedNumbers({ t }: { readonly t: number }) {
  const { batch, rollout } = useShownRollout();
  const hasCritic = useConfig((s) => usesCritic((s.applied ?? s.wanted).estimator));
  const hasKlTerm = useConfig((s) => (s.applied ?? s.wanted).klCoef > 0 || (s.applied ?? s.wanted).klRewardCoef > 0);
  const i = rollout.row * batch.length + t;
  const kind = rollout.kinds[t] ?? 'prompt';
  const isDrawn = kind !== 'prompt' && kind !== 'observation';
  const notDrawnReason = kind === 'prompt' ? 'n/a: prompt' : 'n/a: observation';
  const notInLossReason = batch.lossMask[i] === 0 ? 'n/a: not in the loss' : 'n/a: not measured';
  const orReason = (text: string, reason: string) => (text === 'n/a' ? reason : text);
  const predicted = isPredicted(batch, i);
  const logprob = isDrawn || batch.lossMask[i] !== 0 || predicted ? batch.logprobs[i] : undefined;
  const view: ChannelView = {
    batch,
    config: useLive.getState().batchConfig,
    row: rollout.row,
    logprobsAroundUpdate: null,
  };
  const facts: readonly (readonly [label: string, value: string, hint: string])[] = [
    [
      'in the loss',
      batch.lossMask[i] !== 0 ? 'yes' : predicted ? 'as a prediction' : 'no',
      'Whether the token is in the policy loss, or in the observation loss: then the agent learns to predict it.',
    ],
    ['carries credit', batch.advantageMask[i] !== 0 ? 'yes' : 'no', 'Whether the token is in the advantage mask.'],
    ['probability', logprob === undefined ? notDrawnReason : percent(Math.exp(logprob)), 'Before the update.'],
    ['log-prob, old', orReason(shortNumber(logprob), notDrawnReason), 'Recomputed by the learner before the update.'],
    [
      'as sampled',
      isDrawn ? shortNumber(batch.sampledLogprobs[i]) : notDrawnReason,
      'From the sampler. It must agree with the learner’s, unless older weights drew the token (staleness) or its turn drifted: a drifted token has an equal share of what its text was drawn with.',
    ],
    ...(batch.drawnLogprobs ? [drawnLogprobFact(batch.drawnLogprobs, i, isDrawn)] : []),
    ...(batch.corrections ? [correctionFact(batch, i, isDrawn)] : []),
    [
      'entropy',
      orReason(shortNumber(logprob !== undefined ? batch.entropies[i] : undefined), notDrawnReason),
      'In nats; 0 where only one word is legal.',
    ],
    [
      'advantage',
      orReason(signedNumber(channelValue(view, 'advantage', i)), notInLossReason),
      'How much better than expected this went.',
    ],
    [
      'push',
      orReason(signedNumber(channelValue(view, 'gradient', i)), notInLossReason),
      '−∂L/∂log π of the token’s own loss term, summed over the epochs. Above 0 it makes the token more likely.',
    ],
    [
      'value',
      hasCritic && isDrawn ? shortNumber(batch.values[i]) : hasCritic ? notDrawnReason : 'n/a: no critic',
      'The critic’s estimate before the token.',
    ],
    [
      'return',
      hasCritic && isDrawn ? shortNumber(batch.returns[i]) : hasCritic ? notDrawnReason : 'n/a: no critic',
      'The critic’s training target.',
    ],
    [
      'KL to reference',
      hasKlTerm
        ? orReason(shortNumber(logprobDifference(logprob, batch.refLogprobs[i])), notDrawnReason)
        : 'n/a: no KL term',
      'log π − log π_ref, one token.',
    ],
    ...(view.config && isDrawn ? stateFacts(batch, view.config, i) : []),
    ['reward', kind === 'prompt' ? notDrawnReason : signedNumber(batch.rewards[i]), 'Paid at this token.'],
    ...partsOfToken(batch, i).map(
      ({ part, amount }) => [`· ${PART_LABELS[part]}`, signedNumber(amount), 'A part of this token’s reward.'] as const,
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

/** Of an estimator of turns: the turn's credit for progress, or the state in which it began and what was still earned from there. */
function stateFacts(batch: BatchView, { estimator }: RunConfig, i: number) {
  if (ESTIMATORS[estimator].sharesProgress) {
    const hint = 'C: what this turn and later ones improved, as far as it counts for this turn.';
    return [['turn’s credit', shortNumber(batch.returns[i]), hint]] as const;
  }
  const like = comparesTurns(estimator);
  if (!like) return [];
  const row = Math.floor(i / batch.length);
  const view = batch.episodes.find((episode) => episode.row === row)?.view;
  const states = turnStates(batch, learnedGroups(batch), like.same);
  const others = (turnsByState(batch, states).get(states[i] ?? -1) ?? 1) - 1;
  const state = view ? stateBefore(view, batch.turns[i] ?? 0) : '';
  return [
    ['turn began in', state || 'the start', 'The state. GiGPO compares turns of the same prompt that began in it.'],
    ['turns compared', wholeNumber(others), 'Other turns of the prompt that this one is compared with. With 0, it gets nothing from the comparison.'], // prettier-ignore
    [
      'turn’s return',
      shortNumber(batch.returns[i]),
      'What was earned from this turn on, later turns discounted by γ_turn.',
    ],
  ] as const;
}

function drawnLogprobFact(drawnLogprobs: Float32Array, i: number, isDrawn: boolean) {
  const hint =
    'Under the distribution it was drawn from, cut by top-k and top-p. Only the off-policy correction uses it.';
  return ['drawn with', isDrawn ? shortNumber(drawnLogprobs[i]) : 'n/a: not drawn', hint] as const;
}

function correctionFact({ corrections, lossMask, advantageMask }: BatchView, i: number, isDrawn: boolean) {
  const hint = 'The token’s policy loss is multiplied by this weight, because something else than the learner drew it.';
  const wasRejected = lossMask[i] === 0 && advantageMask[i] !== 0;
  const weight = wasRejected ? 'rejected' : shortNumber(corrections?.[i]);
  return ['off-policy weight', isDrawn ? weight : 'n/a: not drawn', hint] as const;
}

/** Difference of two log-probabilities, a one-token estimate of the KL; undefined if either is missing. */
function logprobDifference(logprob: number | undefined, reference: number | undefined): number | undefined {
  return logprob === undefined || reference === undefined ? undefined : logprob - reference;
}

const PREVIEWED_CHANNELS = [
  ['advantage', 'advantage'],
  ['push', 'gradient'],
] as const;

/** Advantage and push of the token at flat index `i`, without and with the previewed knobs; nothing without a preview. */
function PreviewFacts({ i }: { readonly i: number }) {
  const preview = useSelection((s) => s.preview);
  if (preview?.previewedBatch !== useLive.getState().batch) return null;
  const row = Math.floor(i / preview.previewedBatch.length);
  const unchangedView: ChannelView = {
    batch: preview.unchangedBatch,
    config: useLive.getState().batchConfig,
    row,
    logprobsAroundUpdate: null,
  };
  const changedView = { ...unchangedView, batch: preview.batch, config: preview.config };
  const channelText = (view: ChannelView, channel: 'advantage' | 'gradient') => {
    const value = channelValue(view, channel, i);
    return value === undefined ? 'not in the loss' : signedNumber(value);
  };
  return (
    <div className="card inspected" data-testid="tried-token">
      <p className="soft">
        {preview.label}. Push, {preview.ratios}:
      </p>
      {PREVIEWED_CHANNELS.map(([name, channel]) => (
        <p key={name} className="mono">
          {name} {channelText(unchangedView, channel)} → <b>{channelText(changedView, channel)}</b>
        </p>
      ))}
    </div>
  );
}

function PushFacts({
  batch,
  i,
  config,
}: {
  readonly batch: BatchView;
  readonly i: number;
  readonly config: Pick<RunConfig, 'epochs' | 'surrogate' | 'correction'>;
}) {
  const epochPushes = pushByEpoch(batch, i);
  const advantage = batch.advantages[i] ?? 0;
  if (epochPushes.every(({ push, clipped }) => push === 0 && !clipped)) return null;
  const areEpochsKnown = epochPushes[0]?.epoch !== 0;
  return (
    <div className="mono push-facts" data-testid="push">
      <p className="soft">Push: minus the gradient of the loss with respect to log π</p>
      <p>{pushFormula(config)}</p>
      <ol>
        {epochPushes.map((epochPush) => (
          <li key={epochPush.epoch} data-clipped={epochPush.clipped}>
            {areEpochsKnown ? `epoch ${epochPush.epoch}: ` : 'last epoch: '}
            {epochFormula(epochPush, advantage)}
          </li>
        ))}
      </ol>
      {epochPushes.length > 1 && <p>total {signedNumber(pushAt(batch, i))}</p>}
      {areEpochsKnown ? (
        epochPushes.length < config.epochs && (
          <p className="faint">
            {epochPushes.length} of {config.epochs} epochs are kept.
          </p>
        )
      ) : (
        <p className="faint">Only this batch’s last epoch was kept.</p>
      )}
    </div>
  );
}

const Attention = lazy(() => import('../tokens/Attention.tsx').then((m) => ({ default: m.Attention })));
const Why = lazy(() => import('../tokens/Why.tsx').then((m) => ({ default: m.Why })));

/** Explanations that the run has to compute: they are requested only while their section is open. */
function TokenExplanations({ source, t }: { readonly source: RolloutSource; readonly t: number }) {
  return (
    <>
      <LazySection title="Why did it move?">
        <Why source={source} t={t} />
      </LazySection>
      <LazySection title="Attention">
        <Attention source={source} t={t} />
      </LazySection>
    </>
  );
}

/** Section that renders its content only while it is open. */
function LazySection({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  const [open, setOpen] = useState(false);
  return (
    <details className="deeper" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{title}</summary>
      {open && <Suspense fallback={<p className="faint">Loading…</p>}>{children}</Suspense>}
    </details>
  );
}

/** One epoch's push on a token, from the token's own term of the loss. */
export interface EpochPush {
  readonly epoch: number; // from 1
  readonly push: number; // −∂L/∂log π: above 0 makes the token more likely
  readonly policyPush: number; // the policy loss's part of `push`: A · ρ · w · share
  readonly share: number; // weight of the token in the loss's mean; 0 if the update dropped the row
  readonly correction: number | null; // w; null without an off-policy correction
  readonly ratio: number | null; // ρ; null where the policy loss did not push
  readonly clipped: boolean; // the token has an advantage, but clipping set the policy loss's gradient to 0
}

/** Push on the token at flat index `i` from its own loss term, with the numbers behind it: one entry per recorded epoch. */
export function pushByEpoch(batch: BatchView, i: number): readonly EpochPush[] {
  const advantage = batch.advantages[i] ?? 0;
  const row = Math.floor(i / batch.length);
  const correction = batch.corrections?.[i] ?? null;
  return epochsOf(batch).map((epochView) => {
    const { epoch, gradWeights, policyWeights, shares } = epochView;
    const share = shares ? shareAt({ shares, gradWeights }, batch.length, i) : 0;
    const factor = advantage * share * (correction ?? 1);
    const policyPush = 0 - (policyWeights[i] ?? 0); // `0 -` rather than unary minus, which would give −0
    const isTrained = batch.lossMask[i] !== 0 && batch.kept[row] !== 0;
    return {
      epoch,
      push: 0 - (gradWeights[i] ?? 0),
      policyPush,
      share,
      correction,
      ratio: policyPush !== 0 && factor !== 0 ? policyPush / factor : null,
      clipped: isTrained && advantage !== 0 && policyPush === 0 && correction !== 0,
    };
  });
}

/** Sentence on how the update pushed a token through its own loss term. Names the epochs if they differ. */
export function pushSentence(epochPushes: readonly EpochPush[]): string {
  const total = epochPushes.reduce((sum, { push }) => sum + push, 0);
  const clippedEpochs = epochPushes.filter(({ clipped }) => clipped).map(({ epoch }) => epoch);
  const pushedEpochs = epochPushes.filter(({ push }) => push !== 0).map(({ epoch }) => epoch);
  if (pushedEpochs.length === 0) {
    return clippedEpochs.length > 0
      ? `In the loss, but not pushed: clipped${inEpochs(clippedEpochs, epochPushes.length)}.`
      : epochPushes.some(({ correction }) => correction === 0)
        ? 'In the loss, but not pushed: the off-policy correction gives it weight 0.'
        : 'In the loss, but not pushed: no advantage.';
  }
  const direction = total > 0 ? '▲ This rollout pushed the token up' : '▼ This rollout pushed the token down';
  const directions = new Set(epochPushes.filter(({ push }) => push !== 0).map(({ push }) => Math.sign(push)));
  const reversal = directions.size > 1 ? '; the epochs pushed in opposite directions' : '';
  if (clippedEpochs.length > 0)
    return `${direction}${inEpochs(pushedEpochs, epochPushes.length)}${reversal}; clipped${inEpochs(clippedEpochs, epochPushes.length)}.`;
  return `${direction}${epochPushes.length > 1 ? ` (${epochPushes.length === 2 ? 'both' : `all ${epochPushes.length}`} epochs)` : ''}${reversal}.`;
}

function inEpochs(epochs: readonly number[], epochCount: number): string {
  if (epochs[0] === 0) return ' in the last epoch'; // epoch 0: the batch recorded only the last one
  if (epochCount === 1) return '';
  return ` in epoch ${epochs.join(' and ')}`;
}

export function epochFormula(
  { push, policyPush, share, ratio, clipped, correction }: EpochPush,
  advantage: number,
): string {
  const klPush = push - policyPush;
  const klText =
    Math.abs(klPush) > 1e-9 * Math.abs(push) ? `${policyPush === 0 ? '' : ' '}${signedNumber(klPush)} by KL` : '';
  // the batch does not record a clipped token's ratio
  if (clipped) {
    const bound = advantage > 0 ? 'its ratio is above 1 + ε₊' : 'its ratio is past the bound';
    return `clipped, ${bound}: 0${klText && ` ${klText} = ${signedNumber(push)}`}`;
  }
  if (policyPush === 0) return klText ? `${klText.trim()} = ${signedNumber(push)}` : '0';
  if (ratio === null) return signedNumber(push);
  const weight = correction === null ? '' : ` × ${exactNumber(correction)}`;
  return `${signedNumber(advantage)} × ${exactNumber(ratio)}${weight} × 1/${exactNumber(1 / share)}${klText} = ${signedNumber(push)}`;
}

export function pushReason(batch: BatchView, i: number, isObservation: boolean): string {
  if (batch.kept[Math.floor(i / batch.length)] === 0) return 'The group filter dropped this prompt: no gradient.';
  // with one legal token its log-probability is 0 for all weights, so the gradient is 0 whatever its weight in the loss
  if (batch.singles[i] === 1)
    return `Only one word is legal here, so its probability is always 1: no update can change it.${batch.lossMask[i] === 0 ? ' It isn’t counted anywhere.' : ''}`;
  const epochPushes = pushByEpoch(batch, i);
  if (batch.lossMask[i] !== 0) return pushSentence(epochPushes);
  if (isPredicted(batch, i))
    return '▲ Learned as a prediction: the observation loss pushes it up, whatever the rollout’s reward.';
  if (epochPushes.some(({ push }) => push !== 0)) return 'Not in the policy loss; only the KL term moves it.';
  if (batch.corrections && batch.advantageMask[i] !== 0)
    return 'The off-policy correction took it out of the loss: no gradient.';
  return isObservation ? 'The environment wrote this: no gradient.' : 'Not in the loss: no gradient.';
}
