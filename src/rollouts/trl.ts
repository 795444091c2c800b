import { BadLine, extrasOf, field, type JsonObject, numberOrNull } from './fields.ts';
import type { ReadingContext } from './format.ts';
import { piecesOfMessages } from './messages.ts';
import { segmentsOf } from './pattern.ts';
import { bareRecord, countCalls, countTurns, type RolloutRecord } from './rollout.ts';
import { messagesOf } from './verifiersResults.ts';

/** What a file of TRL has for each rollout, beside its reward functions. */
export const TRL = { name: 'trl', label: 'TRL completions', keys: 'prompt, completion, advantage' } as const;

/**
 * A row of TRL's `completions_{step}.parquet` (`log_completions`): prompt, completion, a column for each reward function, what `log_extra`
 * added, advantage. Which number columns are rewards, and what they weigh, the file does not say: their sum at weight 1 is a guess; so is
 * the group, which is taken to be the rollouts of the same prompt. Throws BadLine.
 */
export function readTrl(line: JsonObject, { pattern }: ReadingContext): RolloutRecord {
  if (field(line, 'prompt') === undefined || field(line, 'completion') === undefined) {
    throw new BadLine(`the columns ${Object.keys(line).join(', ')}`, TRL.keys);
  }
  const messages = [...messagesOf(line, 'prompt', 'user'), ...messagesOf(line, 'completion', 'assistant')];
  const segments = segmentsOf(piecesOfMessages(messages, pattern));
  const others = Object.keys(line).filter((key) => !['step', 'prompt', 'completion', 'advantage'].includes(key));
  const rewardParts = others.flatMap((key) => {
    const value = field(line, key);
    return typeof value === 'number' && Number.isFinite(value) ? [[key, value] as const] : [];
  });
  return bareRecord({
    step: numberOrNull(line, 'step'),
    group: `prompt ${shortHash(JSON.stringify(field(line, 'prompt')))}`,
    reward: rewardParts.length > 0 ? rewardParts.reduce((sum, [, value]) => sum + value, 0) : null,
    rewardParts,
    advantage: numberOrNull(line, 'advantage'),
    turns: countTurns(segments),
    toolCalls: countCalls(segments),
    segments,
    guessed: rewardParts.length > 0 ? ['group', 'reward'] : ['group'],
    extras: extrasOf(line, ['step', 'prompt', 'completion', 'advantage', ...rewardParts.map(([key]) => key)]),
  });
}

/** Eight hex digits of a text: FNV-1a, to tell prompts of one file apart. */
function shortHash(text: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}
