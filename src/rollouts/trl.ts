import { extrasOf, field, has, type JsonObject, numberOrNull } from './jsonFields.ts';
import type { Format, ReadingContext } from './rolloutFormat.ts';
import { messagesOf, piecesOfMessages } from './messages.ts';
import { segmentsOf } from './splitPattern.ts';
import { promptGroup } from './promptGroup.ts';
import { bareRecord, countCalls, countTurns, type RolloutRecord } from './rolloutRecord.ts';

const READ = ['step', 'prompt', 'completion', 'advantage'];

/**
 * TRL's `completions_{step}.parquet` (`log_completions`): prompt, completion, a column for each reward function, what `log_extra` added,
 * advantage; in some versions what `log_extra` added comes last. Which number columns are rewards, and what they weigh, the file does not say.
 * TRL writes rewards as floats, before the advantage, so whole numbers and later columns are none. The sum of the others at weight 1 is a
 * guess; so is the group, which is taken to be the rollouts of the same prompt.
 */
export const trl: Format = {
  name: 'trl',
  label: 'TRL completions',
  keys: 'step, prompt, completion, advantage',
  // before it had advantages TRL wrote steps, as verifiers never did
  recognises: (line) =>
    has(line, 'prompt', 'completion') &&
    (has(line, 'advantage') || (has(line, 'step') && !has(line, 'reward') && !has(line, 'example_id'))),
  read: (line, context) => [readCompletion(line, context)],
};

function readCompletion(line: JsonObject, { pattern, wholeNumbers }: ReadingContext): RolloutRecord {
  const messages = [...messagesOf(line, 'prompt', 'user'), ...messagesOf(line, 'completion', 'assistant')];
  const segments = segmentsOf(piecesOfMessages(messages, pattern));
  const columns = Object.keys(line);
  const before = has(line, 'advantage') ? columns.slice(0, columns.indexOf('advantage')) : columns;
  const rewards = before.filter((key) => !READ.includes(key) && !wholeNumbers.has(key));
  const rewardParts = rewards.flatMap((key) => {
    const value = field(line, key);
    return typeof value === 'number' && Number.isFinite(value) ? [[key, value] as const] : [];
  });
  return bareRecord({
    step: numberOrNull(line, 'step'),
    group: promptGroup(line['prompt']),
    reward: rewardParts.length > 0 ? rewardParts.reduce((sum, [, value]) => sum + value, 0) : null,
    rewardParts,
    advantage: numberOrNull(line, 'advantage'),
    turns: countTurns(segments),
    toolCalls: countCalls(segments),
    segments,
    guessed: rewardParts.length > 0 ? ['group', 'reward'] : ['group'],
    extras: extrasOf(line, [...READ, ...rewardParts.map(([key]) => key)]),
  });
}
