import { useEffect, useRef, useMemo, lazy, type ReactNode, Suspense, useState } from 'react';
import { useCurrent } from '../run/currentRollout.ts';
import { live } from '../run/liveStore.ts';
import { auditMask } from './readRollout.ts';
import { selectToken, useSelection } from '../shell/selectionStore.ts';
import { BREAKPOINTS } from '../parts/breakpoints.ts';
import { Icon } from '../parts/Icon.tsx';
import { counted, whole, percent, short, signed, exact } from '../parts/numberText.ts';
import { channelValue, type ChannelView } from './channels.ts';
import { useConfig } from '../knobs/configStore.ts';
import { usesCritic } from '../../config/estimators.ts';
import { KINDS } from './kinds.ts';
import { PART_LABELS, partsOfToken } from './rewardParts.ts';
import { RunDistribution } from './RunDistribution.tsx';
import type { RunConfig } from '../../config/fields.ts';
import { pushFormula } from '../../config/formula.ts';
import type { BatchView } from '../../domain/batch.ts';
import { pushAt, passesOf } from './push.ts';
import type { Source } from '../run/inspect.ts';
import '../styles/why.css';

const isPhone = () => matchMedia(BREAKPOINTS.phone).matches;

/** Panel with everything known about the selected token, and the check of the loss mask. */
export function Inspector() {
  const selected = useSelection((s) => s.token);
  const { batch, rollout } = useCurrent();
  const { length } = rollout.words;
  const token = selected !== null && selected < length ? selected : null;
  // on a phone the inspector covers part of the page: scroll the selected token to where it stays visible
  useEffect(() => {
    if (token === null || !isPhone()) return;
    document.querySelector('.turns .token[aria-pressed="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [token]);
  const lastUpdate = useRef(batch.update);
  // On a phone, a new batch closes the inspector: this position now holds another token, and the panel would cover the
  // new rollout.
  useEffect(() => {
    if (lastUpdate.current !== batch.update && !live.isExample && isPhone()) selectToken(null, null);
    lastUpdate.current = batch.update;
  }, [batch]);
  return (
    <section className="inspector panel" aria-label="Inspector" data-open={token !== null} data-testid="inspector">
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
      {token === null ? <p className="empty">Choose a token to see what the update did to it.</p> : <Facts t={token} />}
      <Audit />
    </section>
  );
}

/** Check of the loss mask, counted on the tensors that the trainer used rather than derived from the knobs. */
function Audit() {
  const { batch } = useCurrent();
  if (batch.rows === 0) return null; // nothing to count
  const { trained, observations, observationsTrained } = auditMask(batch);
  return (
    <div className="card audit" data-testid="audit">
      <h3>Check of the loss mask · {live.isExample ? 'recording' : `update ${batch.update}`}</h3>
      <p>
        <b>{whole(trained)}</b> tokens of {counted(batch.rows, 'rollout')} in the loss
      </p>
      <p data-bad={observationsTrained > 0}>
        tokens of the tool in the loss:{' '}
        <span className="one-line">
          <b>{whole(observationsTrained)}</b> of {whole(observations)} {observationsTrained === 0 ? '✓' : '▲'}
        </span>
      </p>
    </div>
  );
}

/** Knobs assumed for a recording: it used the clipped surrogate, and only its last epoch is known. */
const RECORDED = { epochs: 1, surrogate: 'clipped' } as const;

/** Everything about one token: its kind, how the update pushed it, and what the run recorded. */
function Facts({ t }: { readonly t: number }) {
  const { batch, rollout } = useCurrent();
  const i = rollout.row * batch.length + t;
  const config = live.batchConfig;
  const source = useMemo(() => config && { batch, row: rollout.row, config }, [batch, rollout, config]);
  const kind = rollout.kinds[t] ?? 'prompt';
  const inLoss = batch.lossMask[i] !== 0;
  const isKept = batch.kept[rollout.row] !== 0;
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
      {!isKept && <p className="chip filtered">not trained (filtered)</p>}
      <p className="inspected-note">{pushReason(batch, i, kind === 'observation')}</p>
      {inLoss && isKept && batch.singles[i] === 0 && <PushFacts batch={batch} i={i} config={config ?? RECORDED} />}
      <PreviewFacts i={i} />
      {source && <RunDistribution source={source} t={t} />}
      {source && <TokenExplanations source={source} t={t} />}
      <Recorded t={t} />
    </>
  );
}

/** The numbers that the run recorded for a token. Each has a hint; a missing one shows the reason. */
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
    ...(batch.drawnLogprobs ? [drawnLogprobFact(batch.drawnLogprobs, i, drawn)] : []),
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

function drawnLogprobFact(drawnLogprobs: Float32Array, i: number, drawn: boolean) {
  const hint = 'Under the distribution it was drawn from, cut by top-k and top-p. Training does not use it.';
  return ['drawn with', drawn ? short(drawnLogprobs[i]) : 'n/a: not drawn', hint] as const;
}

/** Difference of two log-probabilities, a one-token estimate of the KL; undefined if either is missing. */
function klOf(logprob: number | undefined, reference: number | undefined): number | undefined {
  return logprob === undefined || reference === undefined ? undefined : logprob - reference;
}

const PREVIEWED_CHANNELS = [
  ['advantage', 'advantage'],
  ['push', 'gradient'],
] as const;

/**
 * Advantage and push of the token at flat index `i`, without and with the previewed knobs; nothing without a preview.
 */
function PreviewFacts({ i }: { readonly i: number }) {
  const preview = useSelection((s) => s.preview);
  if (preview?.of !== live.batch) return null;
  const row = Math.floor(i / preview.of.length);
  const was: ChannelView = { batch: preview.was, config: live.batchConfig, row, moved: null };
  const would = { ...was, batch: preview.batch, config: preview.config };
  const written = (view: ChannelView, channel: 'advantage' | 'gradient') => {
    const value = channelValue(view, channel, i);
    return value === undefined ? 'not in the loss' : signed(value);
  };
  return (
    <div className="card inspected" data-testid="tried-token">
      <p className="soft">
        {preview.label}, the push {preview.passes}:
      </p>
      {PREVIEWED_CHANNELS.map(([name, channel]) => (
        <p key={name} className="mono">
          {name} {written(was, channel)} → <b>{written(would, channel)}</b>
        </p>
      ))}
    </div>
  );
}

/** How a token's push was computed: the formula, then this token's numbers for each epoch. */
function PushFacts({
  batch,
  i,
  config,
}: {
  readonly batch: BatchView;
  readonly i: number;
  readonly config: Pick<RunConfig, 'epochs' | 'surrogate'>;
}) {
  const all = pushes(batch, i);
  const advantage = batch.advantages[i] ?? 0;
  if (all.every(({ push, clipped }) => push === 0 && !clipped)) return null;
  const areEpochsKnown = all[0]?.pass !== 0;
  return (
    <div className="mono push-facts" data-testid="push">
      <p className="soft">Push: minus the gradient of the loss with respect to log π</p>
      <p>{pushFormula(config)}</p>
      <ol>
        {all.map((pass) => (
          <li key={pass.pass} data-clipped={pass.clipped}>
            {areEpochsKnown ? `epoch ${pass.pass}: ` : 'last epoch: '}
            {passFormula(pass, advantage)}
          </li>
        ))}
      </ol>
      {all.length > 1 && <p>total {signed(pushAt(batch, i))}</p>}
      {areEpochsKnown ? (
        all.length < config.epochs && (
          <p className="faint">
            {all.length} of {config.epochs} epochs are kept.
          </p>
        )
      ) : (
        <p className="faint">Only this batch’s last epoch was kept.</p>
      )}
    </div>
  );
}

const Attention = lazy(() => import('./Attention.tsx').then((m) => ({ default: m.Attention })));
const Why = lazy(() => import('../update/Why.tsx').then((m) => ({ default: m.Why })));

/** Explanations that the run has to compute: they are requested only while their section is open. */
function TokenExplanations({ source, t }: { readonly source: Source; readonly t: number }) {
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
export interface PassPush {
  readonly pass: number; // from 1
  readonly push: number; // −∂L/∂log π: above 0 makes the token more likely
  readonly policy: number; // the policy loss's part of `push`: A · ρ · share
  readonly share: number; // weight of the token in the loss's mean; 0 if the update dropped the row
  readonly ratio: number | null; // ρ; null where the policy loss did not push
  readonly clipped: boolean; // the token has an advantage, but clipping set the policy loss's gradient to 0
}

/**
 * Push on the token at flat index `i` from its own loss term, with the numbers behind it: one entry per recorded epoch.
 */
export function pushes(batch: BatchView, i: number): readonly PassPush[] {
  const advantage = batch.advantages[i] ?? 0;
  const row = Math.floor(i / batch.length);
  return passesOf(batch).map(({ pass, gradWeights, policyWeights, shares }) => {
    const share = shares?.[row] ?? 0;
    const policy = 0 - (policyWeights[i] ?? 0); // `0 -` rather than unary minus, which would give −0
    const learned = batch.lossMask[i] !== 0 && batch.kept[row] !== 0;
    return {
      pass,
      push: 0 - (gradWeights[i] ?? 0),
      policy,
      share,
      ratio: policy !== 0 && share !== 0 && advantage !== 0 ? policy / (advantage * share) : null,
      clipped: learned && advantage !== 0 && policy === 0,
    };
  });
}

/** Sentence on how the update pushed a token through its own loss term. Names the epochs if they differ. */
export function pushSentence(all: readonly PassPush[]): string {
  const total = all.reduce((sum, { push }) => sum + push, 0);
  const clippedPasses = all.filter(({ clipped }) => clipped).map(({ pass }) => pass);
  const acted = all.filter(({ push }) => push !== 0).map(({ pass }) => pass);
  if (acted.length === 0) {
    return clippedPasses.length > 0
      ? `In the loss, but not pushed: clipped${inEpochs(clippedPasses, all.length)}.`
      : 'In the loss, but not pushed: no advantage.';
  }
  const direction = total > 0 ? '▲ This rollout pushed the token up' : '▼ This rollout pushed the token down';
  const directions = new Set(all.filter(({ push }) => push !== 0).map(({ push }) => Math.sign(push)));
  const reversal = directions.size > 1 ? '; the epochs pushed in opposite directions' : '';
  if (clippedPasses.length > 0)
    return `${direction}${inEpochs(acted, all.length)}${reversal}; clipped${inEpochs(clippedPasses, all.length)}.`;
  return `${direction}${all.length > 1 ? ` (${all.length === 2 ? 'both' : `all ${all.length}`} epochs)` : ''}${reversal}.`;
}

function inEpochs(epochs: readonly number[], of: number): string {
  if (epochs[0] === 0) return ' in the last epoch'; // epoch 0: the batch recorded only the last one
  if (of === 1) return '';
  return ` in epoch ${epochs.join(' and ')}`;
}

/** One epoch's push: the formula with this token's numbers. */
export function passFormula({ push, policy, share, ratio, clipped }: PassPush, advantage: number): string {
  const rest = push - policy;
  const kl = Math.abs(rest) > 1e-9 * Math.abs(push) ? `${policy === 0 ? '' : ' '}${signed(rest)} by KL` : '';
  // the batch does not record a clipped token's ratio
  if (clipped) {
    const bound = advantage > 0 ? 'its ratio is above 1 + ε₊' : 'its ratio is past the bound';
    return `clipped, ${bound}: 0${kl && ` ${kl} = ${signed(push)}`}`;
  }
  if (policy === 0) return kl ? `${kl.trim()} = ${signed(push)}` : '0';
  if (ratio === null) return signed(push);
  return `${signed(advantage)} × ${exact(ratio)} × 1/${exact(1 / share)}${kl} = ${signed(push)}`;
}

/** Sentence on how the update pushed a token through its own loss term, or why it did not. */
export function pushReason(batch: BatchView, i: number, observation: boolean): string {
  if (batch.kept[Math.floor(i / batch.length)] === 0) return 'The group filter dropped this prompt: no gradient.';
  // with one legal token its log-probability is 0 for all weights, so the gradient is 0 whatever its weight in the loss
  if (batch.singles[i] === 1)
    return `Only one word is legal here, so its probability is always 1: no update can change it.${batch.lossMask[i] === 0 ? ' It isn’t counted anywhere.' : ''}`;
  const all = pushes(batch, i);
  if (batch.lossMask[i] !== 0) return pushSentence(all);
  if (all.some(({ push }) => push !== 0)) return 'Not in the policy loss; only the KL term moves it.';
  return observation ? 'The environment wrote this: no gradient.' : 'Not in the loss: no gradient.';
}
