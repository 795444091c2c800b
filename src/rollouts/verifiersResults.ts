import type { JsonRecord } from '../base/jsonRecord.ts';
import { unreadValues, flagOrNull, has, numberOrNull, objectAt, textOrNull } from './jsonFields.ts';
import type { RolloutFormat, ReadingContext } from './rolloutFormat.ts';
import { messagesOf, piecesOfMessages } from './messages.ts';
import { segmentsOf } from './splitPattern.ts';
import { promptGroup } from './promptGroup.ts';
import { recordWithDefaults, countCalls, countTurns, type RolloutRecord } from './rolloutRecord.ts';

const KEYS_READ = ['prompt', 'completion', 'metrics'];
const SCALAR_READERS = {
  id: textOrNull,
  example_id: textOrNull,
  task: textOrNull,
  step: numberOrNull,
  reward: numberOrNull,
  stop_condition: textOrNull,
} as const;

/** The format of verifiers before it had Episodes: two lists of messages and a reward. Source: verifiers/types.py of 0.2. */
export const verifiersResults: RolloutFormat = {
  name: 'verifiers-results',
  label: 'verifiers results',
  keys: 'prompt, completion, reward',
  recognises: (line) => has(line, 'prompt', 'completion'),
  read: (line, context) => [readResult(line, context)],
};

function readResult(line: JsonRecord, { pattern }: ReadingContext): RolloutRecord {
  const metrics = objectAt(line, 'metrics');
  const messages = [...messagesOf(line, 'prompt', 'user'), ...messagesOf(line, 'completion', 'assistant')];
  const segments = segmentsOf(piecesOfMessages(messages, pattern));
  const group = textOrNull(line, 'example_id');
  return recordWithDefaults({
    id: textOrNull(line, 'id'),
    step: numberOrNull(line, 'step'),
    group: group ?? promptGroup(line['prompt']),
    task: textOrNull(line, 'task'),
    reward: numberOrNull(line, 'reward'),
    success: flagOrNull(metrics, 'correct') ?? flagOrNull(metrics, 'success'),
    stop: textOrNull(line, 'stop_condition'),
    turns: countTurns(segments),
    toolCalls: countCalls(segments),
    segments,
    guessed: group === null ? ['group'] : [],
    extras: [
      ...unreadValues(metrics, []),
      ...unreadValues(line, [...KEYS_READ, ...Object.keys(metrics)], SCALAR_READERS),
    ],
  });
}
