import type { JsonRecord } from '../base/jsonRecord.ts';
import { extrasOf, flagOrNull, has, numberOrNull, objectOf, objectsOf, textOrNull } from './jsonFields.ts';
import type { Format, ReadingContext } from './rolloutFormat.ts';
import { piecesOfMessages } from './messages.ts';
import { segmentsOf } from './splitPattern.ts';
import { bareRecord, countCalls, type RolloutRecord } from './rolloutRecord.ts';

const FACTS = {
  group_id: textOrNull,
  total_reward: numberOrNull,
  success: flagOrNull,
  num_turns: numberOrNull,
} as const;

/** RAGEN's rollouts, converted by its scripts/convert_to_jsonl.py from pickles, which a page never opens. */
export const ragen: Format = {
  name: 'ragen',
  label: 'RAGEN',
  keys: 'custom_id, messages, metadata',
  recognises: (line) => has(line, 'messages') && (has(line, 'metadata') || has(line, 'custom_id')),
  read: (line, context) => [readTrajectory(line, context)],
};

function readTrajectory(line: JsonRecord, { pattern }: ReadingContext): RolloutRecord {
  const metadata = objectOf(line, 'metadata');
  const segments = segmentsOf(piecesOfMessages(objectsOf(line, 'messages'), pattern));
  return bareRecord({
    id: textOrNull(line, 'custom_id'),
    group: textOrNull(metadata, 'group_id'),
    reward: numberOrNull(metadata, 'total_reward'),
    success: flagOrNull(metadata, 'success'),
    turns: numberOrNull(metadata, 'num_turns'),
    toolCalls: countCalls(segments),
    segments,
    extras: [...extrasOf(metadata, [], FACTS), ...extrasOf(line, ['messages', 'metadata'], { custom_id: textOrNull })],
  });
}
