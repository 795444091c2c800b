import type { JsonRecord } from '../base/jsonRecord.ts';
import { ProblemError } from '../base/problem.ts';
import { has, idsOrNull, numberOrNull, numbersOrNull, objectAt, objectListAt, textOrNull, unreadValues } from './jsonFields.ts'; // prettier-ignore
import { promptGroup } from './promptGroup.ts';
import type { ReadingContext, RolloutFormat } from './rolloutFormat.ts';
import { countCalls, recordWithDefaults, type RolloutRecord } from './rolloutRecord.ts';
import { readBranch } from './verifiers.ts';

const LISTS_OF_CALLS = ['trace_entries', 'turns'] as const; // the first has the texts, if a line has both
const KEYS_READ = [...LISTS_OF_CALLS, 'schema_version', 'reward'];

/**
 * OpenEnv's `TrainingTrace`, what its Harbor server exports of a rollout, or one of its trace entries alone: calls of a
 * model, each with the prompt's tokens as the engine saw them, the sampled ones, and a loss mask over both. Source:
 * openenv 0.10.0, core/harness/training.py and harbor/contract.py.
 */
export const openEnvTraces: RolloutFormat = {
  name: 'openenv-traces',
  label: 'OpenEnv training trace',
  keys: 'schema_version, turns (or prompt_token_ids, completion_token_ids)',
  recognises: (line) =>
    (has(line, 'schema_version') && LISTS_OF_CALLS.some((key) => has(line, key))) ||
    has(line, 'prompt_token_ids', 'completion_token_ids'),
  read: (line, context) => [readTraining(line, context)],
};

function readTraining(line: JsonRecord, context: ReadingContext): RolloutRecord {
  const key = LISTS_OF_CALLS.find((each) => has(line, each));
  const calls = key ? objectListAt(line, key) : [line];
  const [first] = calls;
  if (!first) throw new ProblemError({ got: 'a trace without calls of a model', want: 'at least one turn' });
  const { nodes, contexts } = nodesOf(calls);
  const { segments, tokens } = readBranch(nodes, {}, context);
  const last = calls.at(-1)!;
  const task = textOrNull(line, 'task_id');
  return recordWithDefaults({
    id: textOrNull(line, 'session_id') ?? textOrNull(objectAt(first, 'metadata'), 'node_id') ?? textOrNull(first, 'node_id'), // prettier-ignore
    group: task ?? promptGroup(messagesOfCall(first)),
    task: textOrNull(line, 'task_name') ?? task,
    reward: numberOrNull(line, 'reward') ?? numberOrNull(last, 'reward'),
    stop: textOrNull(choiceOf(last), 'finish_reason'),
    turns: calls.length,
    toolCalls: countCalls(segments),
    segments,
    tokens,
    guessed: task === null ? ['group'] : [],
    extras: [
      ...(contexts > 1 ? [['contexts', `${contexts}; a prompt that doesn’t carry on the call before is shown whole`] as const] : []), // prettier-ignore
      ...unreadValues(key ? line : objectAt(line, 'metadata'), [...KEYS_READ, 'session_id', 'task_id', 'task_name']),
    ],
  });
}

const choiceOf = (call: JsonRecord) => objectListAt(objectAt(call, 'response'), 'choices')[0] ?? {};
const messagesOfCall = (call: JsonRecord) => objectListAt(objectAt(call, 'request'), 'messages');

const NOTHING = { ids: [], messages: 0 };

/** Two nodes as verifiers has them for each call: what it adds to the call before, and what the model wrote. */
function nodesOf(calls: readonly JsonRecord[]) {
  const nodes: JsonRecord[] = [];
  let contexts = 1;
  let before: { readonly ids: readonly number[]; readonly messages: number } = NOTHING;
  for (const call of calls) {
    const prompt = idsOrNull(call, 'prompt_token_ids') ?? [];
    const written = idsOrNull(call, 'completion_token_ids') ?? [];
    const all = [...prompt, ...written];
    const mask = numbersOrNull(call, 'loss_mask', all.length);
    const messages = messagesOfCall(call);
    if (!before.ids.every((id, i) => id === prompt[i])) [before, contexts] = [NOTHING, contexts + 1];
    const part = (start: number, end: number) => ({ token_ids: all.slice(start, end), ...(mask && { loss_weights: { rl: mask.slice(start, end) } }) }); // prettier-ignore
    const added = part(before.ids.length, prompt.length);
    nodes.push(
      { messages: messages.slice(before.messages), sampled: false, mask: added.token_ids.map(() => false), ...added }, // prettier-ignore
      { message: objectAt(choiceOf(call), 'message'), sampled: true, mask: written.map(() => true), logprobs: numbersOrNull(call, 'per_token_logps') ?? [], ...part(prompt.length, all.length) }, // prettier-ignore
    );
    before = { ids: all, messages: messages.length + 1 };
  }
  return { nodes, contexts };
}
