import type { JsonRecord } from '../base/jsonRecord.ts';
import { unreadValues, field, has, numberOrNull } from './jsonFields.ts';
import type { RolloutFormat, ReadingContext } from './rolloutFormat.ts';
import { messagesOf, piecesOfMessages } from './messages.ts';
import { segmentsOf } from './splitPattern.ts';
import { promptGroup } from './promptGroup.ts';
import { recordWithDefaults, countCalls, countTurns, type RolloutRecord } from './rolloutRecord.ts';

const KEYS_READ = ['step', 'prompt', 'completion', 'advantage'];

/**
 * TRL's `completions_{step}.parquet` (`log_completions`). Its columns are the prompt, the completion, one for each
 * reward function, those of `log_extra`, and the advantage; in some versions those of `log_extra` come last. The file
 * does not say which columns are rewards, or their weights. TRL writes rewards as floats, before the advantage, so
 * columns of whole numbers and later columns are not rewards. The total reward is a guess: the sum of the remaining
 * number columns, each with weight 1. The group is a guess too: rollouts with the same prompt.
 */
export const trl: RolloutFormat = {
  name: 'trl',
  label: 'TRL completions',
  keys: 'step, prompt, completion, advantage',
  // TRL before it had advantages wrote a step but no reward column; verifiers results have `reward` or `example_id`
  recognises: (line) =>
    has(line, 'prompt', 'completion') &&
    (has(line, 'advantage') || (has(line, 'step') && !has(line, 'reward') && !has(line, 'example_id'))),
  read: (line, context) => [readCompletion(line, context)],
};

function readCompletion(line: JsonRecord, { pattern, wholeNumbers }: ReadingContext): RolloutRecord {
  const messages = [...messagesOf(line, 'prompt', 'user'), ...messagesOf(line, 'completion', 'assistant')];
  const segments = segmentsOf(piecesOfMessages(messages, pattern));
  const columns = Object.keys(line);
  const candidates = has(line, 'advantage') ? columns.slice(0, columns.indexOf('advantage')) : columns;
  const rewards = candidates.filter((key) => !KEYS_READ.includes(key) && !wholeNumbers.has(key));
  const rewardParts = rewards.flatMap((key) => {
    const value = field(line, key);
    return typeof value === 'number' && Number.isFinite(value) ? [[key, value] as const] : [];
  });
  return recordWithDefaults({
    step: numberOrNull(line, 'step'),
    group: promptGroup(line['prompt']),
    reward: rewardParts.length > 0 ? rewardParts.reduce((sum, [, value]) => sum + value, 0) : null,
    rewardParts,
    advantage: numberOrNull(line, 'advantage'),
    turns: countTurns(segments),
    toolCalls: countCalls(segments),
    segments,
    guessed: rewardParts.length > 0 ? ['group', 'reward'] : ['group'],
    extras: unreadValues(line, [...KEYS_READ, ...rewardParts.map(([key]) => key)]),
  });
}
