import { expect, test } from 'vitest';
import type { RolloutRecord } from '../../src/rollouts/rolloutRecord.ts';
import type { Library } from '../../src/rollouts/library.ts';
import { DEFAULT_PATTERN } from '../../src/rollouts/splitPattern.ts';
import { ownLines } from '../../src/rollouts/writeOwn.ts';
import { fileOf, fixture, readAll, recordedBatches } from './reading.ts';

const said = ({ segments }: RolloutRecord) => segments.map(({ kind, turn, text }) => [kind, turn, text.trim()]);
const jsonl = (...lines: readonly object[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join('');

test('verl V1: two steps, groups out of uids, roles guessed, and no calls counted in the system message that explains them', async () => {
  const { records, problems, files, groups, table } = await readAll(fixture('verl-v1'));
  expect(problems).toEqual([]);
  expect(files.map(({ format, rollouts }) => [format, rollouts])).toEqual([
    ['verl', 3],
    ['verl', 3],
  ]);
  expect(groups).toEqual(['8f_a', '9c_b', '8f_a', '9c_b']); // those of another step are others
  expect(Array.from(table.columns.group.subarray(0, 6))).toEqual([0, 0, 1, 2, 2, 3]);
  expect(records.map(({ step, reward }) => [step, reward])).toEqual([
    [1, 0],
    [1, 1],
    [1, 0.5],
    [2, 1],
    [2, 1],
    [2, 0.25],
  ]);
  const [, played] = records;
  expect(played?.guessed).toContain('roles');
  expect(played?.tokens).toBeNull();
  expect(played?.toolCalls).toBe(1);
  expect(played?.turns).toBe(2);
  expect(said(played!)).toEqual([
    ['system', 0, 'system\nYou may call tools: <tool_call>…</tool_call>.'],
    ['prompt', 0, 'user\nWho wrote “Ada”? Ünïcode too.'],
    ['prompt', 0, 'assistant'],
    ['think', 1, '<think>\nI should look.\n</think>'],
    ['call', 1, '<tool_call>\n{"name": "search", "arguments": {"query": "Ada"}}\n</tool_call>'],
    ['prompt', 1, 'user'],
    ['observation', 1, '<tool_response>\nuser\nNabokov wrote it.\n</tool_response>'],
    ['action', 2, 'assistant'],
    ['answer', 2, '<answer>Nabokov</answer>'],
  ]);
});

test('verl legacy: a score that is NaN is absent, and the extra columns are there', async () => {
  const { records, files, problems } = await readAll(fixture('verl-legacy'));
  expect(problems).toEqual([]);
  expect(files[0]?.nonFinite).toBe(1);
  expect(records.map(({ reward, success, id }) => [reward, success, id])).toEqual([
    [1, true, 'r1'],
    [null, false, 'r2'],
  ]);
  expect(records[0]?.extras).toContainEqual(['pred', 'Nabokov']);
});

test('Agent-R1: steps of a trajectory are told once, with what each was paid', async () => {
  const { records, problems } = await readAll(fixture('agent-r1'));
  expect(problems).toEqual([]);
  expect(records.map(({ id, step, reward, turns, toolCalls }) => [id, step, reward, turns, toolCalls])).toEqual([
    ['t0', 3, 1, 2, 1],
    ['t1', 3, 0, 1, 0],
  ]);
  expect(records[0]?.rewardParts).toEqual([
    ['step 0', 0],
    ['step 1', 1],
  ]);
  expect(said(records[0]!).map(([kind]) => kind)).toEqual([
    ...['system', 'prompt', 'prompt', 'call', 'observation', 'observation', 'answer'],
  ]);
});

test('verifiers: the branch written last, with numbers of the sampled tokens at their places', async () => {
  const { records, problems, files } = await readAll(fixture('verifiers'));
  expect(problems).toEqual([]);
  expect(files[0]?.format).toBe('verifiers traces');
  const [first, second] = records;
  expect([first?.id, first?.step, first?.group, first?.reward, first?.success]).toEqual([
    'episode-0',
    12,
    'g0',
    1.1,
    true,
  ]);
  expect(first?.tokens?.ids).toEqual([1, 5, 6, 7, 8, 2, 9, 10, 11, 12, 13, 2, 14]);
  const none = [null, null, null, null, null, null];
  expect(first?.tokens?.channels.sampledLogprob).toEqual([...none, -0.1, -0.25, -1.5, null, null, null, -0.5]);
  expect(first?.tokens?.channels.refLogprob).toEqual([...none, -0.2, -0.3, -1.4, null, null, null, null]);
  expect(first?.tokens?.channels.entropy).toBeUndefined();
  expect(said(first!)).toEqual([
    ['system', 0, 'Be brief.'],
    ['prompt', 0, 'Who wrote Ada?'],
    ['think', 1, 'I should look.'],
    ['call', 1, 'search({"query": "Ada"})'],
    ['observation', 1, 'Nabokov wrote it.'],
    ['action', 2, 'Nabokov'],
  ]);
  expect(first?.segments.at(-1)).toMatchObject({ from: 11, to: 13 });
  expect(second?.extras).toContainEqual(['branches', '2; the last is shown']);
  expect(said(second!).some(([, , text]) => text === 'A first try.')).toBe(false);
});

test('TRL: Parquet of pandas, messages and texts; what reward columns add up to is a guess', async () => {
  const { records, problems, files, table } = await readAll(fixture('trl'));
  expect(problems).toEqual([]);
  expect(files.map(({ format, rollouts }) => [format, rollouts])).toEqual([
    ['TRL completions', 2],
    ['TRL completions', 2],
  ]);
  expect(records.map(({ step, reward, advantage }) => [step, reward, advantage])).toEqual([
    [5, 1.5, 0.7],
    [5, 0, -0.7],
    [6, 1.5, 0.7],
    [6, 0, -0.7],
  ]);
  expect(records[0]?.guessed).toEqual(['group', 'reward']);
  expect(said(records[0]!)).toEqual([
    ['prompt', 0, 'Who wrote Ada?'],
    ['think', 1, '<think>Easy.</think>'],
    ['action', 1, 'Nabokov'],
  ]);
  expect(records[0]?.extras).toContainEqual(['golden', 'Nabokov']);
  expect(Array.from(table.columns.group.subarray(0, 4))).toEqual([0, 0, 1, 1]);
});

test('RAGEN, prime-rl’s token export and verifiers’ older results', async () => {
  const ragen = { role: 'user', content: 'You are at 3.' };
  const files = [
    fileOf(
      'val.jsonl',
      jsonl({
        custom_id: 'traj_0',
        messages: [ragen, { role: 'assistant', content: '<think>up</think><answer>Up || Left</answer>' }, ragen],
        metadata: { env_id: 4, group_id: 2, num_turns: 1, total_reward: 0.9, success: true, entropy: 1.5 },
      }),
    ),
    fileOf(
      'run/token_exports/step_8/rank_0.jsonl',
      jsonl({
        ...{ schema_version: 1, step: 8, rank: 0, export_sequence_idx: 3, env_name: 'math', token_ids: [5, 6, 7, 8] },
        ...{ loss_mask: [false, true, true, false], advantages: [0, 0.5, 0.5, 0], inference_logprobs: [0, -1, -2, 0] },
        ...{ trainer_logprobs: [0, -1.1, -2, 0], entropy: [0, 1, 1, 0] },
      }),
    ),
    fileOf(
      'results.jsonl',
      jsonl({
        ...{ example_id: 7, prompt: [ragen], completion: [{ role: 'assistant', content: 'Up' }], reward: 0.5 },
        ...{ metrics: { correct: 1 }, correct: 1, stop_condition: 'max_turns', answer: 'Up' },
      }),
    ),
  ];
  const { records, problems, files: reports } = await readAll(files);
  expect(problems).toEqual([]);
  expect(reports.map(({ format }) => format)).toEqual(['verifiers results', 'prime-rl token export', 'RAGEN']);
  const [result, exported, trajectory] = records;
  expect([trajectory?.group, trajectory?.reward, trajectory?.success, trajectory?.turns]).toEqual(['2', 0.9, true, 1]);
  expect(said(trajectory!).map(([kind]) => kind)).toEqual(['prompt', 'think', 'answer', 'observation']);
  expect([exported?.id, exported?.step, exported?.reward]).toEqual(['8-0-3', 8, null]);
  expect(exported?.segments.map(({ kind, from, to }) => [kind, from, to])).toEqual([
    ['prompt', 0, 1],
    ['action', 1, 3],
    ['observation', 3, 4],
  ]);
  expect([result?.group, result?.reward, result?.success, result?.stop]).toEqual(['7', 0.5, true, 'max_turns']);
  expect(result?.extras).toEqual([
    ['correct', '1'],
    ['answer', 'Up'],
  ]);
});

test('the step is the file’s name where a line has none', async () => {
  const line = jsonl({ input: 'a', output: 'b', score: 1 });
  const { records } = await readAll([
    fileOf('dump/10.jsonl', line),
    fileOf('dump/9.jsonl', line),
    fileOf('x/step_4/rank_0.jsonl', line),
  ]);
  expect(records.map(({ step }) => step)).toEqual([9, 10, 4]); // as numbers, not as letters
});

test('a pattern that a person changes splits otherwise', async () => {
  const file = fileOf('1.jsonl', jsonl({ input: 'q', output: '<plan>p</plan><do>x</do><saw>y</saw>z', score: 1 }));
  const pattern = {
    ...{ think: ['plan'], call: ['do'], observation: ['saw'], answer: [] },
    ...{ system: [], user: [], assistant: [], tool: [] },
  };
  const { records } = await readAll([file], pattern);
  expect(said(records[0]!).map(([kind]) => kind)).toEqual(['prompt', 'think', 'call', 'observation', 'action']);
  const plain = await readAll([file]);
  expect(said(plain.records[0]!).map(([kind]) => kind)).toEqual(['prompt', 'action']);
});

async function find(library: Library, words: string): Promise<number[]> {
  const rows: number[] = [];
  for await (const found of library.search(words, DEFAULT_PATTERN)) rows.push(...found.rows);
  return rows;
}

test('a search finds words of any case in any text, those that JSON writes otherwise too', async () => {
  const { library } = await readAll(fixture('verl-v1'));
  expect(await find(library, 'NABOKOV wrote')).toEqual([1, 2, 4, 5]);
  expect(await find(library, '“ada”')).toEqual([0, 1, 2, 3, 4, 5]);
  expect(await find(library, '"name": "search"')).toEqual([1, 2, 4, 5]);
  expect(await find(library, 'Joyce')).toEqual([]);
});

test('a search finds what is shown, though the line writes it apart: words of tokens, calls of messages, signs escaped', async () => {
  const { batches, vocabulary } = recordedBatches();
  const own = ownLines(batches[0]!, vocabulary).join('');
  const { library, records } = await readAll([fileOf('own.jsonl', own)]);
  const shown = records.flatMap(({ segments }, row) =>
    segments.some(({ text }) => text.includes('<obs> higher')) ? [row] : [],
  );
  expect(shown.length).toBeGreaterThan(0);
  expect(await find(library, '<obs> higher')).toEqual(shown);
  const call = { name: 'search', arguments: { from: [1, 2] } };
  const message = { role: 'assistant', content: '\\u003cb\\u003e', tool_calls: [call] };
  const line = JSON.stringify({ prompt: 'q', completion: [message], reward: 1, metrics: {} });
  const called = await readAll([
    fileOf('results.jsonl', `${line.replaceAll('\\\\u', '\\u').replace('[1,2]', '[1, 2]')}\n`),
  ]);
  expect(await find(called.library, 'search({"from":[1,2]})')).toEqual([0]);
  expect(await find(called.library, '[1,2]')).toEqual([0]);
  expect(await find(called.library, '<b>')).toEqual([0]);
});

test('turns are those the file counts, and those of the branch that is shown', async () => {
  const step = { step_index: 0, input: 'q', output: 'a', score: 0 };
  const silent = { step_index: 1, input: 'qa', output: '', score: 0 };
  const line = { trajectory_uid: 't', score: 0, step: 1, num_steps: 2, steps: [step, silent] };
  const { records } = await readAll([fileOf('1.jsonl', jsonl(line))]);
  expect(records[0]?.turns).toBe(2);
  const branched = (await readAll(fixture('verifiers'))).records[1]!;
  expect(branched.extras).toContainEqual(['branches', '2; the last is shown']);
  expect(branched.turns).toBe(new Set(branched.segments.map(({ turn }) => turn).filter((turn) => turn > 0)).size);
});

test('trackio: traces of its export, with what their metadata say of a reward, and what was asked as the group', async () => {
  const { records, problems, files } = await readAll(fixture('trackio'));
  expect([problems, files[0]?.format]).toEqual([[], 'trackio traces']);
  expect(records.map(({ step, reward, turns, toolCalls }) => [step, reward, turns, toolCalls])).toEqual([
    [12, 1, 2, 1],
    [12, 0, 1, 0],
  ]);
  expect(records[0]?.group).toBe(records[1]?.group);
  expect(said(records[0]!).map(([kind, , text]) => [kind, text])).toEqual([
    ['system', 'Be brief.'],
    ['prompt', 'Who wrote Ada?'],
    ['call', 'search({"query": "Ada"})'],
    ['observation', 'Nabokov wrote it.'],
    ['action', 'Nabokov'],
  ]);
  expect(records[0]?.extras).toContainEqual(['golden', 'Nabokov']);
});

test('OpenEnv: an episode is its messages; a training trace has the engine’s tokens once, and begins again where a prompt doesn’t carry on', async () => {
  const { records, problems, files } = await readAll(fixture('openenv'));
  expect(problems).toEqual([]);
  expect(files.map(({ format }) => format)).toEqual(['OpenEnv episodes', 'OpenEnv training trace']);
  const [episode, trace] = records;
  expect(episode).toMatchObject({ id: 'e0', task: 'ada', reward: 1, success: true, turns: 2, toolCalls: 1 });
  expect(trace).toMatchObject({ id: 'n0', reward: null, turns: 3, toolCalls: 1, stop: 'stop', guessed: ['group'] });
  expect(trace?.tokens).toMatchObject({
    ids: [1, 5, 6, 7, 9, 10, 12, 13, 14, 1, 20, 15],
    channels: {
      sampled: [0, 0, 0, 0, 1, 1, 0, 0, 1, 0, 0, 1],
      loss: [0, 0, 0, 0, 1, 1, 0, 0, 1, 0, 0, 1],
      sampledLogprob: [null, null, null, null, -0.25, -1.5, null, null, -0.5, null, null, -0.75],
    },
  });
  // two messages share four tokens, so nobody knows which are whose
  expect(trace?.segments.map(({ kind, from, to }) => [kind, from, to])).toEqual([
    ['system', null, null],
    ['prompt', null, null],
    ['call', 4, 6],
    ['observation', 6, 8],
    ['action', 8, 9],
    ['observation', 9, 11],
    ['action', 11, 12],
  ]);
  expect(trace?.extras[0]).toEqual(['contexts', '2; a prompt that doesn’t carry on the call before is shown whole']);
});

test('OpenEnv: what Harbor exports has the reward and the task, and a mask that doesn’t fit the tokens is refused', async () => {
  const entry = { request: { messages: [{ role: 'user', content: 'q' }] }, response: { choices: [{ message: { role: 'assistant', content: 'a' } }] }, prompt_token_ids: [1], completion_token_ids: [2], per_token_logps: [-1], loss_mask: [0, 1] }; // prettier-ignore
  const harbor = { schema_version: 1, task_id: 't7', session_id: 's', reward: 0.5, trace_entries: [entry], turns: [] };
  const read = await readAll([fileOf('x.jsonl', jsonl(harbor, { ...harbor, trace_entries: [{ ...entry, loss_mask: [1] }] }))]); // prettier-ignore
  expect(read.records).toMatchObject([{ id: 's', group: 't7', task: 't7', reward: 0.5, guessed: [] }]);
  expect(read.problems).toMatchObject([{ line: 2, got: '1 entries in loss_mask', want: '2, one for each token' }]);
  expect((await readAll([fileOf('y.jsonl', jsonl(entry))])).records).toMatchObject([{ turns: 1, reward: null }]);
});
