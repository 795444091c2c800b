import type { KeptBatch } from '../domain/batch.ts';
import type { SpanKind, Writing } from '../domain/tokens.ts';

/** Who wrote a stretch of a rollout, in the glossary's words; a system message is a prompt that a chat template sets apart. */
export type SegmentRole = 'system' | 'prompt' | 'action' | 'observation';

/** A stretch of a rollout that one side wrote. */
export interface Segment {
  readonly role: SegmentRole;
  readonly kind: SpanKind;
  readonly turn: number; // from 1; 0 before the agent's first word
  readonly text: string; // as the file has it
  readonly from: number | null; // first token of the segment in `tokens`; null where the file has no ids for it
  readonly to: number | null; // after its last
}

/** The numbers that a token of a rollout can have, with their labels and meanings. */
export const TOKEN_CHANNELS = {
  sampled: { label: 'Sampled', doc: '1 where the policy drew the token.', ramp: 'sequential' },
  loss: { label: 'Loss', doc: 'Weight of the token in the policy loss; 0: masked out.', ramp: 'sequential' },
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
    doc: 'Log-probability in the distribution that top-k and top-p left, from which the token was drawn.',
    ramp: 'sequential',
  },
  logprob: { label: 'log p', doc: 'Log-probability as the trainer recomputed it.', ramp: 'sequential' },
  refLogprob: { label: 'log p ref', doc: 'Log-probability under the reference.', ramp: 'sequential' },
  entropy: { label: 'Entropy', doc: 'Entropy of the policy, in nats.', ramp: 'sequential' },
  value: { label: 'Value', doc: 'What the critic expected before the token.', ramp: 'diverging' },
  return: { label: 'Return', doc: 'The target that the critic learns.', ramp: 'diverging' },
  reward: { label: 'Reward', doc: 'Paid at the token.', ramp: 'diverging' },
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

/** The tokens of a rollout. A channel has an entry a token, null where it says nothing of it; one the file lacks is absent. */
export interface RolloutTokens {
  readonly ids: readonly number[];
  readonly words: readonly string[] | null; // null: the file has ids alone
  readonly writing?: Writing; // how they follow one another; words without it
  readonly channels: Readonly<Partial<Record<TokenChannel, readonly (number | null)[]>>>;
  readonly parts?: readonly (readonly [name: string, paid: readonly (number | null)[]])[]; // of the channel `reward`
}

/** What a reader had to guess, because the file does not say it. */
export type Guess = 'roles' | 'group' | 'reward' | 'turns';

/** A rollout from anywhere. What its file does not hold is null, never made up. */
export interface RolloutRecord {
  readonly id: string | null;
  readonly step: number | null; // training step or policy version
  readonly group: string | null; // rollouts of one task in one step share it
  readonly task: string | null; // what was asked, in words
  readonly reward: number | null;
  readonly rewardParts: readonly (readonly [name: string, amount: number])[];
  readonly advantage: number | null; // where the file has one for the whole rollout
  readonly success: boolean | null;
  readonly stop: string | null; // how it ended
  readonly turns: number | null;
  readonly toolCalls: number | null;
  readonly segments: readonly Segment[];
  readonly tokens: RolloutTokens | null;
  readonly batch?: KeptBatch; // of this row alone, where the file is the page’s own: all that its panels read but the episode
  readonly guessed: readonly Guess[];
  readonly extras: readonly (readonly [name: string, value: string])[]; // everything else the line holds, as text
}

/** A record of which nothing is known but what is given. */
export function bareRecord(given: Partial<RolloutRecord>): RolloutRecord {
  return {
    ...{ id: null, step: null, group: null, task: null, reward: null, rewardParts: [], advantage: null },
    ...{ success: null, stop: null, turns: null, toolCalls: null, segments: [], tokens: null, guessed: [], extras: [] },
    ...given,
  };
}

/** Characters of all segments. */
export function textLength({ segments }: RolloutRecord): number {
  return segments.reduce((sum, { text }) => sum + text.length, 0);
}

/** Turns of the agent: how often it began to write. */
export function countTurns(segments: readonly Segment[]): number {
  return segments.reduce((most, { turn }) => Math.max(most, turn), 0);
}

/** Segments that call a tool. */
export function countCalls(segments: readonly Segment[]): number {
  return segments.filter(({ kind }) => kind === 'call').length;
}

const ASKED: readonly (readonly [TokenChannel, string])[] = [
  ['sampled', 'masks'],
  ['sampledLogprob', 'log-probabilities'],
  ['refLogprob', 'reference log-probabilities'],
  ['advantage', 'advantages of tokens'],
];

/** What a rollout's file does not hold, in words. */
export function absentOf(record: RolloutRecord): string[] {
  const { tokens } = record;
  const missing = (channel: TokenChannel) =>
    !tokens?.channels[channel] && !(channel === 'sampled' && tokens?.channels.loss);
  return [
    ...(tokens ? [] : ['token ids']),
    ...(tokens && !tokens.words ? ['words of tokens'] : []),
    ...ASKED.flatMap(([channel, words]) => (missing(channel) ? [words] : [])),
    ...(record.step === null ? ['the step'] : []),
    ...(record.group === null ? ['the group'] : []),
    ...(record.reward === null ? ['the reward'] : []),
    ...(record.success === null ? ['success'] : []),
  ];
}
