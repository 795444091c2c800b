import type { JsonRecord } from '../base/jsonRecord.ts';
import { unreadValues, flagOrNull, has, numberOrNull, objectAt, objectListAt, textOrNull } from './jsonFields.ts';
import type { RolloutFormat, ReadingContext } from './rolloutFormat.ts';
import { piecesOfMessages } from './messages.ts';
import { segmentsOf } from './splitPattern.ts';
import { recordWithDefaults, countCalls, type RolloutRecord } from './rolloutRecord.ts';

const SCALAR_READERS = {
  group_id: textOrNull,
  total_reward: numberOrNull,
  success: flagOrNull,
  num_turns: numberOrNull,
} as const;

/** RAGEN's rollouts, converted by its scripts/convert_to_jsonl.py from pickles, which a page never opens. */
export const ragen: RolloutFormat = {
  name: 'ragen',
  label: 'RAGEN',
  keys: 'custom_id, messages, metadata',
  // a trajectory of ART has messages and metadata, too, and its reward beside them
  recognises: (line) =>
    has(line, 'messages') && (has(line, 'custom_id') || (has(line, 'metadata') && !has(line, 'reward'))),
  read: (line, context) => [readTrajectory(line, context)],
};

function readTrajectory(line: JsonRecord, { pattern }: ReadingContext): RolloutRecord {
  const metadata = objectAt(line, 'metadata');
  const segments = segmentsOf(piecesOfMessages(objectListAt(line, 'messages'), pattern));
  return recordWithDefaults({
    id: textOrNull(line, 'custom_id'),
    group: textOrNull(metadata, 'group_id'),
    reward: numberOrNull(metadata, 'total_reward'),
    success: flagOrNull(metadata, 'success'),
    turns: numberOrNull(metadata, 'num_turns'),
    toolCalls: countCalls(segments),
    segments,
    extras: [
      ...unreadValues(metadata, [], SCALAR_READERS),
      ...unreadValues(line, ['messages', 'metadata'], { custom_id: textOrNull }),
    ],
  });
}
