import type { RolloutRecord, TokenChannel } from './rolloutRecord.ts';

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
