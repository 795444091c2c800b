import type { JsonRecord } from '../base/jsonRecord.ts';
import { flagOrNull, has, numberOrNull, objectAt, textOrNull, unreadValues } from './jsonFields.ts';
import { messagesOf, piecesOfMessages } from './messages.ts';
import { promptGroup } from './promptGroup.ts';
import type { ReadingContext, RolloutFormat } from './rolloutFormat.ts';
import { countCalls, countTurns, recordWithDefaults, type RolloutRecord } from './rolloutRecord.ts';
import { segmentsOf } from './splitPattern.ts';

/** trackio's traces, as its table in Parquet or as `Trace` itself. Source: trackio 0.43.0, trace.py and sqlite_storage.py. */
export const trackio: RolloutFormat = {
  name: 'trackio',
  label: 'trackio traces',
  keys: 'messages, spans (or trace_index)',
  recognises: (line) => has(line, 'messages') && (has(line, 'spans') || has(line, 'trace_index')),
  // what a rollout was paid is where the person who logged it put it
  read: (line, context) => [readMessages(line, objectAt(line, 'metadata'), context)],
};

/** Episodes that `openenv collect` wrote. Source: openenv 0.10.0, core/harness/collect.py. */
export const openEnvEpisodes: RolloutFormat = {
  name: 'openenv-episodes',
  label: 'OpenEnv episodes',
  keys: 'episode_id, messages',
  recognises: (line) => has(line, 'episode_id', 'messages'),
  read: (line, context) => [readMessages(line, objectAt(line, 'verify_metrics'), context)],
};

/** Keys of the two programs that the record has; `search_text` and `tool_trace` repeat the messages. */
const KEYS_READ = ['_type', 'messages', 'metadata', 'verify_metrics', 'search_text', 'tool_trace'];
const READERS = {
  ...{ id: textOrNull, episode_id: textOrNull, group: textOrNull, task: textOrNull, step: numberOrNull },
  ...{ reward: numberOrNull, advantage: numberOrNull, success: flagOrNull },
} as const;

/** A rollout that is one list of messages. `more` has values beside the line's own. */
function readMessages(line: JsonRecord, more: JsonRecord, { pattern }: ReadingContext): RolloutRecord {
  const messages = messagesOf(line, 'messages', 'user');
  const segments = segmentsOf(piecesOfMessages(messages, pattern));
  const firstReply = messages.findIndex((message) => textOrNull(message, 'role') === 'assistant');
  const group = textOrNull(line, 'group') ?? textOrNull(more, 'group');
  const number = (key: 'step' | 'reward' | 'advantage') => numberOrNull(line, key) ?? numberOrNull(more, key);
  return recordWithDefaults({
    id: textOrNull(line, 'id') ?? textOrNull(line, 'episode_id'),
    step: number('step'),
    group: group ?? promptGroup(firstReply < 0 ? messages : messages.slice(0, firstReply)),
    task: textOrNull(line, 'task') ?? textOrNull(more, 'task'),
    reward: number('reward'),
    advantage: number('advantage'),
    success: flagOrNull(line, 'success') ?? flagOrNull(more, 'success'),
    turns: countTurns(segments),
    toolCalls: countCalls(segments),
    segments,
    guessed: group === null ? ['group'] : [],
    extras: [...unreadValues(more, [], READERS), ...unreadValues(line, KEYS_READ, READERS)],
  });
}
