import type { KeptBatch } from '../domain/batch.ts';
import type { SpanKind, Writing } from '../domain/tokens.ts';

/** The author of a segment, in the glossary's words. A system message is a prompt that a chat template marks as such. */
export type SegmentRole = 'system' | 'prompt' | 'action' | 'observation';

/** A part of a rollout with one author and one kind. */
export interface Segment {
  readonly role: SegmentRole;
  readonly kind: SpanKind;
  readonly turn: number; // from 1; 0 before the agent's first word
  readonly text: string; // as in the file
  readonly from: number | null; // index of the segment's first token in `tokens`; null if the file does not say
  readonly to: number | null; // index after its last token
}

/** The numbers that a token of a rollout can have, with their labels and meanings. */
export const TOKEN_CHANNELS = {
  sampled: { label: 'Sampled', doc: '1 where the policy drew the token.', ramp: 'sequential' },
  loss: { label: 'Loss', doc: 'Weight of the token in the policy loss; 0: masked out.', ramp: 'sequential' },
  predicted: {
    label: 'Predicted',
    doc: 'Weight of the token in the cross-entropy loss: learned as a prediction.',
    ramp: 'sequential',
  },
  credit: { label: 'Credit', doc: '1 where the token can carry an advantage.', ramp: 'sequential' },
  advantage: { label: 'Adv.', doc: 'Advantage: better (+) or worse (−) than expected.', ramp: 'diverging' },
  push: { label: 'Push', doc: '−∂L/∂log π, summed over the epochs of the update.', ramp: 'diverging' },
  sampledLogprob: {
    label: 'log p drawn',
    doc: 'Log-probability as the sampler computed it when it drew the token.',
    ramp: 'sequential',
  },
  drawnLogprob: {
    label: 'log p cut',
    doc: 'Log-probability in the distribution after top-k and top-p, from which the token was drawn.',
    ramp: 'sequential',
  },
  logprob: { label: 'log p', doc: 'Log-probability as the trainer recomputed it.', ramp: 'sequential' },
  refLogprob: { label: 'log p ref', doc: 'Log-probability under the reference.', ramp: 'sequential' },
  entropy: { label: 'Entropy', doc: 'Entropy of the policy, in nats.', ramp: 'sequential' },
  value: { label: 'Value', doc: 'What the critic expected before the token.', ramp: 'diverging' },
  return: { label: 'Return', doc: 'The target that the critic learns.', ramp: 'diverging' },
  reward: { label: 'Reward', doc: 'Reward given at the token.', ramp: 'diverging' },
  ratio: { label: 'Ratio', doc: 'Importance ratio, as the trainer wrote it.', ramp: 'sequential' },
  mismatchKl: {
    label: 'Mismatch',
    doc: 'KL between sampler and trainer, as the trainer wrote it.',
    ramp: 'sequential',
  },
} as const satisfies Readonly<
  Record<string, { readonly label: string; readonly doc: string; readonly ramp: 'sequential' | 'diverging' }>
>;
export type TokenChannel = keyof typeof TOKEN_CHANNELS;
export const TOKEN_CHANNEL_NAMES = Object.keys(TOKEN_CHANNELS) as TokenChannel[];

/** A channel has an entry for each token, null where the channel does not apply. Channels not in the file are absent. */
export interface RolloutTokens {
  readonly ids: readonly number[];
  readonly words: readonly string[] | null; // null: the file has only ids
  readonly writing?: Writing; // how the words are joined into text; absent: as words
  readonly channels: Readonly<Partial<Record<TokenChannel, readonly (number | null)[]>>>;
  /** The parts whose sum is the channel `reward`. */
  readonly parts?: readonly (readonly [name: string, amounts: readonly (number | null)[]])[];
}

/** A property that a reader had to guess, because the file does not say it. */
export type Guess = 'roles' | 'group' | 'reward' | 'turns';

/** A rollout from any program. Values that its file does not have are null, never invented. */
export interface RolloutRecord {
  readonly id: string | null;
  readonly step: number | null; // training step or policy version
  readonly group: string | null; // rollouts of one task in one step share it
  readonly task: string | null; // what was asked, in words
  readonly reward: number | null;
  readonly rewardParts: readonly (readonly [name: string, amount: number])[];
  readonly advantage: number | null; // if the file has one for the whole rollout
  readonly success: boolean | null;
  readonly stop: string | null; // how it ended
  readonly turns: number | null;
  readonly toolCalls: number | null;
  readonly segments: readonly Segment[];
  readonly tokens: RolloutTokens | null;
  readonly batch?: KeptBatch; // for the panels: this row as a batch without an episode; only in this project's format
  readonly guessed: readonly Guess[];
  readonly extras: readonly (readonly [name: string, value: string])[]; // everything else the line holds, as text
}

/** A record with the given values. All others are null or empty. */
export function recordWithDefaults(values: Partial<RolloutRecord>): RolloutRecord {
  return {
    ...{ id: null, step: null, group: null, task: null, reward: null, rewardParts: [], advantage: null },
    ...{ success: null, stop: null, turns: null, toolCalls: null, segments: [], tokens: null, guessed: [], extras: [] },
    ...values,
  };
}

export function textLength({ segments }: RolloutRecord): number {
  return segments.reduce((sum, { text }) => sum + text.length, 0);
}

export function countTurns(segments: readonly Segment[]): number {
  return segments.reduce((highest, { turn }) => Math.max(highest, turn), 0);
}

export function countCalls(segments: readonly Segment[]): number {
  return segments.filter(({ kind }) => kind === 'call').length;
}

const CHANNELS_TO_MENTION: readonly (readonly [TokenChannel, string])[] = [
  ['sampled', 'masks'],
  ['sampledLogprob', 'log-probabilities'],
  ['refLogprob', 'reference log-probabilities'],
  ['advantage', 'advantages of tokens'],
];

/** The names of the values that a rollout's file does not have. */
export function missingValues(record: RolloutRecord): string[] {
  const { tokens } = record;
  const missing = (channel: TokenChannel) =>
    !tokens?.channels[channel] && !(channel === 'sampled' && tokens?.channels.loss);
  return [
    ...(tokens ? [] : ['token ids']),
    ...(tokens && !tokens.words ? ['words of tokens'] : []),
    ...CHANNELS_TO_MENTION.flatMap(([channel, words]) => (missing(channel) ? [words] : [])),
    ...(record.step === null ? ['the step'] : []),
    ...(record.group === null ? ['the group'] : []),
    ...(record.reward === null ? ['the reward'] : []),
    ...(record.success === null ? ['success'] : []),
  ];
}
