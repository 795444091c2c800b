import type { RunConfig } from '../../config/fields.ts';
import { type BatchView, behaviourLogprobs, isMeasured, type EpochView } from '../../domain/batch.ts';
import { Role } from '../../domain/tokens.ts';

/** A quantity that the colour of the tokens can show. */
export type Channel =
  | 'mask'
  | 'advantage'
  | 'gradient'
  | 'ratio'
  | 'entropy'
  | 'kl'
  | 'value'
  | 'change'
  | 'reward'
  | 'mismatch';

interface ChannelStyle {
  readonly label: string;
  readonly doc: string;
  readonly ramp: 'none' | 'diverging' | 'sequential';
  readonly valuedTokens: 'loss' | 'response' | 'action'; // which tokens have a value; the other tokens show "n/a"
  readonly scaleOver?: 'rollout'; // the scale covers only the rollout in view; if absent, the batch
}

/** All channels, in the order of their buttons and digit keys. */
export const CHANNELS: Readonly<Record<Channel, ChannelStyle>> = {
  mask: {
    label: 'Mask',
    doc: 'The author of the token, and whether it is trained.',
    ramp: 'none',
    valuedTokens: 'response',
  },
  advantage: {
    label: 'Adv.',
    doc: 'Advantage: better (+) or worse (−) than expected.',
    ramp: 'diverging',
    valuedTokens: 'loss',
  },
  gradient: {
    label: 'Push',
    doc: 'How hard this update pushed the token’s probability up (▲) or down (▼): the gradient of the token’s own loss, −∂L/∂log π, summed over the epochs. A notch in the bar: the token was clipped in at least one epoch.',
    ramp: 'diverging',
    valuedTokens: 'loss',
  },
  ratio: {
    label: 'Ratio',
    doc: 'The token’s probability after the update divided by that before. A notch in the bar: the token was clipped at the last optimizer step.',
    ramp: 'diverging',
    valuedTokens: 'loss',
    scaleOver: 'rollout',
  },
  entropy: {
    label: 'Entropy',
    doc: 'How undecided the agent was at this token, in nats; 0 is certain.',
    ramp: 'sequential',
    valuedTokens: 'action',
  },
  kl: {
    label: 'KL',
    doc: 'How much training has changed the token’s log-probability, from the start of the run to just before this update. The mean over tokens estimates the KL divergence.',
    ramp: 'diverging',
    valuedTokens: 'action',
  },
  value: {
    label: 'Value',
    doc: 'The return that the critic expects before this token.',
    ramp: 'diverging',
    valuedTokens: 'action',
  },
  change: {
    label: 'Δp',
    doc: 'Probability after the update − before.',
    ramp: 'diverging',
    valuedTokens: 'action',
    scaleOver: 'rollout',
  },
  reward: { label: 'Reward', doc: 'Reward paid at the token.', ramp: 'diverging', valuedTokens: 'response' },
  mismatch: {
    label: 'Gap',
    doc: 'Gap between learner and sampler: the token’s log-probability just before the update − that with which it was drawn. 0: the learner itself drew it.',
    ramp: 'diverging',
    valuedTokens: 'action',
  },
};

export const CHANNEL_NAMES = Object.keys(CHANNELS) as Channel[];

/** Log-probabilities of a row's tokens under the weights before and after the update of the row's batch; (T) each. */
export interface LogprobsAroundUpdate {
  readonly before: Float32Array;
  readonly after: Float32Array;
}

export interface ChannelView {
  readonly batch: BatchView;
  readonly config: RunConfig | null; // null: a recording, without critic or reference
  readonly row: number;
  readonly logprobsAroundUpdate: LogprobsAroundUpdate | null; // null: not requested, or the weights are no longer kept
  readonly unchangedView?: ChannelView; // in a preview: the same row with unchanged knobs
  readonly isFromFile?: boolean; // there are no weights to compute with
}

function rawValue(
  { batch, config, row, logprobsAroundUpdate }: ChannelView,
  channel: Channel,
  i: number,
): number | undefined {
  const t = i - row * batch.length;
  switch (channel) {
    case 'mask':
      return undefined;
    case 'advantage':
      return batch.advantages[i];
    case 'gradient':
      // a token that is the only legal one has probability 1 for all weights
      return batch.singles[i] === 1 ? 0 : pushAt(batch, i);
    case 'ratio':
      return logprobsAroundUpdate
        ? Math.exp((logprobsAroundUpdate.after[t] ?? 0) - (logprobsAroundUpdate.before[t] ?? 0))
        : undefined;
    case 'entropy':
      return batch.entropies[i];
    case 'kl':
      if (!config || !isMeasured({ batch, config }, 'refLogprobs')) return undefined;
      return (batch.logprobs[i] ?? 0) - (batch.refLogprobs[i] ?? 0);
    case 'value':
      return config && isMeasured({ batch, config }, 'values') ? batch.values[i] : undefined;
    case 'change':
      return logprobsAroundUpdate
        ? Math.exp(logprobsAroundUpdate.after[t] ?? 0) - Math.exp(logprobsAroundUpdate.before[t] ?? 0)
        : undefined;
    case 'reward':
      return batch.rewards[i];
    case 'mismatch':
      return batch.roles[i] === Role.action ? (batch.logprobs[i] ?? 0) - (behaviourLogprobs(batch)[i] ?? 0) : undefined;
  }
}

function applies(batch: BatchView, channel: Channel, i: number): boolean {
  const role = batch.roles[i];
  const { valuedTokens } = CHANNELS[channel];
  // the KL term also pushes tokens that the policy loss leaves out
  if (channel === 'gradient' && epochsOf(batch).some(({ gradWeights }) => gradWeights[i] !== 0)) return true;
  if (valuedTokens === 'loss' || (valuedTokens === 'action' && role === Role.observation))
    return batch.lossMask[i] !== 0;
  return valuedTokens === 'action' ? role === Role.action : role === Role.action || role === Role.observation;
}

/** The channel's value at a flat index; undefined where it has none. */
export function channelValue(view: ChannelView, channel: Channel, i: number): number | undefined {
  const value = applies(view.batch, channel, i) ? rawValue(view, channel, i) : undefined;
  return value !== undefined && Number.isFinite(value) ? value : undefined;
}

/** Signed distance of a value from neutral: the logarithm of a ratio, otherwise the value. */
export function extent(channel: Channel, value: number): number {
  return channel === 'ratio' ? Math.log(value) : value;
}

/**
 * The extent shown at full strength: the 99th percentile over tokens in the loss, so that outliers and untrained tokens
 * don't make the rest pale. For rewards, all tokens count, because observations are rewarded too. `otherRows` are the
 * batch's other rows, if each row is a batch of its own (opened files).
 */
export function channelScale(view: ChannelView, channel: Channel, otherRows: readonly ChannelView[] = []): number {
  const views = CHANNELS[channel].scaleOver === 'rollout' ? [view] : [view, ...otherRows];
  return fullStrength(views.flatMap((each) => extentsOf(each, channel)));
}

function extentsOf(view: ChannelView, channel: Channel): number[] {
  const { batch, row } = view;
  const rowOnly = CHANNELS[channel].scaleOver === 'rollout';
  const [start, end] = rowOnly ? [row * batch.length, (row + 1) * batch.length] : [0, batch.roles.length];
  const extents: number[] = [];
  for (let i = start; i < end; i++) {
    if (batch.lossMask[i] === 0 && channel !== 'reward') continue;
    const value = channelValue(view, channel, i);
    if (value !== undefined && extent(channel, value) !== 0) extents.push(Math.abs(extent(channel, value)));
  }
  return extents;
}

/**
 * Whether a token was clipped: it has an advantage and a weight, but the policy loss's gradient is 0. A batch has the policy weights
 * of the last epoch; for another epoch, pass that epoch's `policyWeights`.
 */
export function isClipped({ lossMask, advantages, policyWeights, corrections }: BatchView, i: number): boolean {
  return lossMask[i] !== 0 && advantages[i] !== 0 && policyWeights[i] === 0 && corrections?.[i] !== 0;
}

/** Whether a token is learned as a prediction: it is in the observation loss, not in the policy loss. */
export function isPredicted({ observationMask }: Pick<BatchView, 'observationMask'>, i: number): boolean {
  return observationMask !== undefined && observationMask[i] !== 0;
}

export function isClippedInAnyEpoch(batch: BatchView, i: number): boolean {
  return epochsOf(batch).some(({ policyWeights }) => isClipped({ ...batch, policyWeights }, i));
}

/** The size to show at full strength: the 99th percentile, so that outliers don't make the other values invisible. 0 for an empty list. */
export function fullStrength(sizes: readonly number[]): number {
  // a typed array sorts without calling a function for each pair
  const sorted = Float64Array.from(sizes).sort();
  return sorted[Math.floor((sorted.length - 1) * 0.99)] ?? 0;
}

/** The recorded epochs of a batch. If none is recorded, only the last one, as epoch 0 with unknown shares. */
export function epochsOf({ epochViews, gradWeights, policyWeights }: BatchView): readonly (EpochView | UnknownEpoch)[] {
  return epochViews && epochViews.length > 0 ? epochViews : [{ epoch: 0, gradWeights, policyWeights, shares: null }];
}

type UnknownEpoch = Omit<EpochView, 'shares'> & { readonly shares: null };

/** −∂L/∂log π of the token at a flat index, summed over the recorded epochs. Above 0 makes the token more likely. */
export function pushAt(batch: BatchView, i: number): number {
  return epochsOf(batch).reduce((total, { gradWeights }) => total - (gradWeights[i] ?? 0), 0);
}
