import {
  extrasOf,
  field,
  flagOrNull,
  type JsonObject,
  numberOrNull,
  objectOf,
  objectsOf,
  textOrNull,
} from './fields.ts';
import type { Format, ReadingContext } from './format.ts';
import { piecesOfMessages } from './messages.ts';
import { segmentsOf } from './pattern.ts';
import { bareRecord, countCalls, countTurns, type RolloutRecord } from './rollout.ts';

const READ = ['example_id', 'prompt', 'completion', 'reward', 'stop_condition', 'metrics', 'task', 'id'];

/** `results.jsonl` of verifiers before its Episodes: two lists of messages and a reward. Source: verifiers/types.py of 0.2. */
export const verifiersResults: Format = {
  name: 'verifiers-results',
  label: 'verifiers results',
  keys: 'prompt, completion, reward',
  recognises: (line) =>
    field(line, 'prompt') !== undefined &&
    field(line, 'completion') !== undefined &&
    field(line, 'reward') !== undefined,
  read: (line, context) => [readResult(line, context)],
};

function readResult(line: JsonObject, { pattern }: ReadingContext): RolloutRecord {
  const metrics = objectOf(line, 'metrics');
  const messages = [...messagesOf(line, 'prompt', 'user'), ...messagesOf(line, 'completion', 'assistant')];
  const segments = segmentsOf(piecesOfMessages(messages, pattern));
  return bareRecord({
    id: textOrNull(line, 'id'),
    group: textOrNull(line, 'example_id'),
    task: textOrNull(line, 'task'),
    reward: numberOrNull(line, 'reward'),
    success: flagOrNull(metrics, 'correct') ?? flagOrNull(metrics, 'success'),
    stop: textOrNull(line, 'stop_condition'),
    turns: countTurns(segments),
    toolCalls: countCalls(segments),
    segments,
    extras: [...extrasOf(metrics, []), ...extrasOf(line, [...READ, ...Object.keys(metrics)])],
  });
}

/** A list of messages; a text is one message of `role`. */
export function messagesOf(line: JsonObject, key: string, role: 'user' | 'assistant'): readonly JsonObject[] {
  const value = field(line, key);
  return typeof value === 'string' ? [{ role, content: value }] : objectsOf(line, key);
}
