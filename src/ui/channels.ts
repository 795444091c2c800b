import type { BatchView } from '../protocol.ts';
import { Role } from '../tokens.ts';

/** What the fill of a token says. */
export type Channel = 'role' | 'advantage' | 'gradient' | 'entropy' | 'logprob' | 'value' | 'reward';

interface ChannelStyle {
  readonly label: string;
  readonly doc: string;
  readonly ramp: 'none' | 'diverging' | 'sequential';
  readonly where: 'loss' | 'response' | 'action'; // tokens it speaks of; "n/a" elsewhere
}

/** The channels in the order of their buttons and keys. */
export const CHANNELS: Readonly<Record<Channel, ChannelStyle>> = {
  role: { label: 'Role', doc: 'Who wrote the token, and whether it is trained.', ramp: 'none', where: 'response' },
  advantage: { label: 'Advantage', doc: 'Better (+) or worse (−) than expected.', ramp: 'diverging', where: 'loss' },
  gradient: {
    label: 'Gradient',
    doc: 'What multiplied ∇log π in this update; below 0 pushes the token up.',
    ramp: 'diverging',
    where: 'loss',
  },
  entropy: { label: 'Entropy', doc: 'How undecided the agent was, in nats.', ramp: 'sequential', where: 'action' },
  logprob: { label: 'Log-prob', doc: 'Log-probability before the update.', ramp: 'sequential', where: 'action' },
  value: { label: 'Value', doc: 'What the critic expected before the token.', ramp: 'diverging', where: 'action' },
  reward: { label: 'Reward', doc: 'Paid at the token.', ramp: 'diverging', where: 'response' },
};

export const CHANNEL_NAMES = Object.keys(CHANNELS) as Channel[];

function arrayOf(batch: BatchView, channel: Channel): Float32Array | null {
  switch (channel) {
    case 'role':
      return null;
    case 'advantage':
      return batch.advantages;
    case 'gradient':
      return batch.gradWeights;
    case 'entropy':
      return batch.entropies;
    case 'logprob':
      return batch.logprobs;
    case 'value':
      return batch.values;
    case 'reward':
      return batch.rewards;
  }
}

/** Whether the channel speaks of token `i` of the batch (a flat index). */
function speaks(batch: BatchView, channel: Channel, i: number): boolean {
  const role = batch.roles[i];
  const { where } = CHANNELS[channel];
  // the KL term pulls at tokens that the policy loss leaves out
  if (channel === 'gradient' && batch.gradWeights[i] !== 0) return true;
  if (where === 'loss' || (where === 'action' && role === Role.observation)) return batch.lossMask[i] !== 0;
  return where === 'action' ? role === Role.action : role === Role.action || role === Role.observation;
}

/** The channel's value at a flat index; undefined where it says nothing. */
export function channelValue(batch: BatchView, channel: Channel, i: number): number | undefined {
  const value = speaks(batch, channel, i) ? arrayOf(batch, channel)?.[i] : undefined;
  return value !== undefined && Number.isFinite(value) ? value : undefined;
}

/** The magnitude drawn at full strength: the 99th percentile over tokens the channel speaks of, so one outlier hides nothing. */
export function channelScale(batch: BatchView, channel: Channel): number {
  const sizes: number[] = [];
  for (let i = 0; i < batch.roles.length; i++) {
    const value = channelValue(batch, channel, i);
    if (value !== undefined && value !== 0) sizes.push(Math.abs(value));
  }
  sizes.sort((a, b) => a - b);
  return sizes[Math.floor((sizes.length - 1) * 0.99)] ?? 0;
}
