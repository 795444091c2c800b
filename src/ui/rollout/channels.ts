import type { RunConfig } from '../../config/fields.ts';
import { type BatchView, isMeasured } from '../../domain/batch.ts';
import { Role } from '../../domain/tokens.ts';
import { fullStrength } from '../parts/strength.ts';
import { passesOf, pushAt } from './push.ts';

/** What the fill of a token says. */
export type Channel = 'mask' | 'advantage' | 'gradient' | 'ratio' | 'entropy' | 'kl' | 'value' | 'change' | 'reward';

interface ChannelStyle {
  readonly label: string;
  readonly doc: string;
  readonly ramp: 'none' | 'diverging' | 'sequential';
  readonly where: 'loss' | 'response' | 'action'; // tokens it speaks of; "n/a" elsewhere
  readonly over?: 'rollout'; // its scale is that of the rollout in view; of the batch without it
}

/** The channels in the order of their buttons and keys. */
export const CHANNELS: Readonly<Record<Channel, ChannelStyle>> = {
  mask: { label: 'Mask', doc: 'The author of the token, and whether it is trained.', ramp: 'none', where: 'response' },
  advantage: {
    label: 'Adv.',
    doc: 'Advantage: better (+) or worse (−) than expected.',
    ramp: 'diverging',
    where: 'loss',
  },
  gradient: {
    label: 'Push',
    doc: 'How hard this update pushed the token’s probability up (▲) or down (▼): the gradient of the token’s own loss, −∂L/∂log π, summed over the epochs. A notch in the bar: clipping stopped the push in at least one epoch.',
    ramp: 'diverging',
    where: 'loss',
  },
  ratio: {
    label: 'Ratio',
    doc: 'The token’s probability after the update divided by that before. A notch in the bar: the token was clipped at the last optimizer step.',
    ramp: 'diverging',
    where: 'loss',
    over: 'rollout',
  },
  entropy: {
    label: 'Entropy',
    doc: 'How undecided the agent was at this token, in nats; 0 is certain.',
    ramp: 'sequential',
    where: 'action',
  },
  kl: {
    label: 'KL',
    doc: 'How much training has changed the token’s log-probability, from the start of the run to just before this update. The mean over tokens estimates the KL divergence.',
    ramp: 'diverging',
    where: 'action',
  },
  value: {
    label: 'Value',
    doc: 'The return that the critic expects before this token.',
    ramp: 'diverging',
    where: 'action',
  },
  change: {
    label: 'Δp',
    doc: 'Probability after the update − before.',
    ramp: 'diverging',
    where: 'action',
    over: 'rollout',
  },
  reward: { label: 'Reward', doc: 'Reward paid at the token.', ramp: 'diverging', where: 'response' },
};

export const CHANNEL_NAMES = Object.keys(CHANNELS) as Channel[];

/** Log-probabilities of a row's tokens under the weights before and after its update; (T) each. */
export interface Moved {
  readonly before: Float32Array;
  readonly after: Float32Array;
}

/** What the channels read: a batch, the knobs it was made under, and what is known of the row in view. */
export interface ChannelView {
  readonly batch: BatchView;
  readonly config: RunConfig | null; // null: an example, without critic or reference
  readonly row: number;
  readonly moved: Moved | null; // null: not asked for, or not kept any more
  readonly was?: ChannelView; // as it was, of what is tried
  readonly opened?: boolean; // out of a file: no weights to ask
}

function read({ batch, config, row, moved }: ChannelView, channel: Channel, i: number): number | undefined {
  const t = i - row * batch.length;
  switch (channel) {
    case 'mask':
      return undefined;
    case 'advantage':
      return batch.advantages[i];
    case 'gradient':
      // the one legal word has probability 1 whatever the loss says of it
      return batch.singles[i] === 1 ? 0 : pushAt(batch, i);
    case 'ratio':
      return moved ? Math.exp((moved.after[t] ?? 0) - (moved.before[t] ?? 0)) : undefined;
    case 'entropy':
      return batch.entropies[i];
    case 'kl':
      if (!config || !isMeasured({ batch, config }, 'refLogprobs')) return undefined;
      return (batch.logprobs[i] ?? 0) - (batch.refLogprobs[i] ?? 0);
    case 'value':
      return config && isMeasured({ batch, config }, 'values') ? batch.values[i] : undefined;
    case 'change':
      return moved ? Math.exp(moved.after[t] ?? 0) - Math.exp(moved.before[t] ?? 0) : undefined;
    case 'reward':
      return batch.rewards[i];
  }
}

/** Whether the channel is about token `i` of the batch (a flat index). */
function speaks(batch: BatchView, channel: Channel, i: number): boolean {
  const role = batch.roles[i];
  const { where } = CHANNELS[channel];
  // the KL term pulls at tokens that the policy loss leaves out
  if (channel === 'gradient' && passesOf(batch).some(({ gradWeights }) => gradWeights[i] !== 0)) return true;
  if (where === 'loss' || (where === 'action' && role === Role.observation)) return batch.lossMask[i] !== 0;
  return where === 'action' ? role === Role.action : role === Role.action || role === Role.observation;
}

/** The channel's value at a flat index; undefined where it says nothing. */
export function channelValue(view: ChannelView, channel: Channel, i: number): number | undefined {
  const value = speaks(view.batch, channel, i) ? read(view, channel, i) : undefined;
  return value !== undefined && Number.isFinite(value) ? value : undefined;
}

/** How far a value is from saying nothing: a ratio from 1, in its logarithm, all others from 0. */
export function extent(channel: Channel, value: number): number {
  return channel === 'ratio' ? Math.log(value) : value;
}

/**
 * The extent drawn at full strength: the 99th percentile over tokens in the loss, so that neither an outlier nor a token that is
 * not trained hides anything. Rewards are paid on observations too and count wherever they are. `beside` are the other rows of a batch
 * whose rows are apart.
 */
export function channelScale(view: ChannelView, channel: Channel, beside: readonly ChannelView[] = []): number {
  const views = CHANNELS[channel].over === 'rollout' ? [view] : [view, ...beside];
  return fullStrength(views.flatMap((each) => sizesOf(each, channel)));
}

function sizesOf(view: ChannelView, channel: Channel): number[] {
  const { batch, row } = view;
  const one = CHANNELS[channel].over === 'rollout';
  const [from, to] = one ? [row * batch.length, (row + 1) * batch.length] : [0, batch.roles.length];
  const sizes: number[] = [];
  for (let i = from; i < to; i++) {
    if (batch.lossMask[i] === 0 && channel !== 'reward') continue;
    const value = channelValue(view, channel, i);
    if (value !== undefined && extent(channel, value) !== 0) sizes.push(Math.abs(extent(channel, value)));
  }
  return sizes;
}

/** Whether the clip held a token back at the last pass: it has an advantage, and the policy loss pulled at it with nothing. */
export function isClipped({ lossMask, advantages, policyWeights }: BatchView, i: number): boolean {
  return lossMask[i] !== 0 && advantages[i] !== 0 && policyWeights[i] === 0;
}

/** The same of any pass that is kept. */
export function isClippedOnce(batch: BatchView, i: number): boolean {
  return passesOf(batch).some(({ policyWeights }) => isClipped({ ...batch, policyWeights }, i));
}
