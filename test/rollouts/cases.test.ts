import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { unpacked } from '../../src/formats/compressed.ts';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { RolloutDetails } from '../../src/ui/rollouts/OpenFiles.tsx';
import { openParquet } from '../../src/formats/parquet.ts';
import { DEFAULT_PATTERN } from '../../src/rollouts/splitPattern.ts';
import { trl } from '../../src/rollouts/trl.ts';
import { stepOfPath } from '../../src/rollouts/fileRefusal.ts';
import type { RolloutRecord } from '../../src/rollouts/rolloutRecord.ts';
import { fileOf, readAll } from './reading.ts';

// Small files made after public bug reports: each was lost, mixed up or misread once.
const CASES = 'test/fixtures/rollouts/cases';
const caseOf = (path: string) => fileOf(path, new Uint8Array(readFileSync(`${CASES}/${path}`)));
const read = (...paths: readonly string[]) => readAll(paths.map(caseOf));
const lines = (...objects: readonly object[]) => objects.map((line) => `${JSON.stringify(line)}\n`).join('');
const written = (name: string, text: string) => readAll([fileOf(name, text)]);
const rewards = (records: readonly RolloutRecord[]) => records.map(({ reward }) => reward);
const said = ({ segments }: RolloutRecord) => segments.map(({ kind, text }) => [kind, text.trim()]);
const callsOf = ({ segments }: RolloutRecord) => segments.filter(({ kind }) => kind === 'call').map(({ text }) => text);

/** A rollout of verifiers' results with these messages of the agent. */
const result = (...completion: readonly object[]) => ({ example_id: 0, prompt: 'q', completion, reward: 1 });
const agent = (content: unknown, ...calls: readonly unknown[]) => ({ role: 'assistant', content, tool_calls: calls });

test.each([
  ['a3/first_nan/3.jsonl', 'verl', [null, 1, 0]],
  ['a3/first_null/3.jsonl', 'verl', [null, 1]],
  ['a3/all_nan/3.jsonl', 'verl', [null, null, null]],
  ['a3/later_nan/3.jsonl', 'verl', [1, null, 0]],
  ['a3/results_null/results.jsonl', 'verifiers results', [null, 1]],
])('%s: the format is known by its keys, whatever the first reward is', async (path, format, expected) => {
  const { records, files, problems } = await read(path);
  expect(problems).toEqual([]);
  expect(files[0]?.format).toBe(format);
  expect(rewards(records)).toEqual(expected);
});

test.each([
  ['verl', '{"input": "q", "output": "a", "score": X}'],
  ['verifiers results', '{"prompt": "q", "completion": "a", "reward": X}'],
  ['RAGEN', '{"custom_id": "r", "messages": [{"role": "user", "content": "q"}], "metadata": X}'],
  ['Agent-R1', '{"trajectory_uid": X, "num_steps": 1, "steps": [{"input": "q", "output": "a"}]}'],
  ['prime-rl token export', '{"token_ids": [1, 2], "loss_mask": X, "advantages": [0, 1]}'],
  ['TRL completions', '{"step": 1, "prompt": "q", "completion": "a", "advantage": X}'],
  ['verifiers traces', '{"traces": [{"nodes": [{"message": {"role": "user", "content": "q"}}], "rewards": X}]}'],
])('%s is recognised where a value of its first line is absent, null or NaN', async (label, line) => {
  const absent = JSON.stringify(JSON.parse(line.replace('X', 'null')), (_, value: unknown) => value ?? undefined);
  for (const text of [line.replace('X', 'null'), line.replace('X', 'NaN'), absent]) {
    const { files, records, problems } = await written('x.jsonl', `${text}\n`);
    expect([files[0]?.format, records.length, problems]).toEqual([label, 1, []]);
  }
});

test('calls that verifiers wrote as JSON texts are calls', async () => {
  const { records, problems } = await read('a1/results.jsonl');
  expect(problems).toEqual([]);
  expect(records.map(({ toolCalls }) => toolCalls)).toEqual([1, 1, 1, 1]);
  expect(callsOf(records[2]!)).toEqual(['look_up({"query": "river of town 2"})']);
});

test('parts of a line may be JSON texts: a list of calls, a function, messages, metrics; a text that is no JSON is shown', async () => {
  const call = { function: JSON.stringify({ name: 'f', arguments: { a: 1 } }) };
  const { records, problems } = await written(
    'results.jsonl',
    lines(
      { ...result(), completion: [{ role: 'assistant', content: '', tool_calls: JSON.stringify([call]) }] },
      { ...result(), completion: JSON.stringify([agent('', call)]), metrics: '{"correct": 1.0}' },
      result(agent('', "Call(name='f')")),
    ),
  );
  expect(problems).toEqual([]);
  expect(records.map(callsOf)).toEqual([['f({"a":1})'], ['f({"a":1})'], ["call(Call(name='f'))"]]);
  expect(records.map(({ success }) => success)).toEqual([null, true, null]);
  const node = { message: agent('', JSON.stringify({ name: 'f', arguments: '{}' })), sampled: true };
  const traces = await written('traces.jsonl', lines({ traces: [{ nodes: [node] }] }));
  expect([traces.records[0]?.toolCalls, callsOf(traces.records[0]!)]).toEqual([1, ['f({})']]);
});

test('the role text is that of the list or of the node it stands in', async () => {
  const text = (content: string) => ({ role: 'text', content });
  const results = await written('results.jsonl', lines({ ...result(text('a')), prompt: [text('q')] }));
  const node = (content: string, sampled: boolean) => ({ message: text(content), sampled });
  const [q, a] = [node('q', false), { ...node('a', true), parent: 0 }];
  const traces = await written('traces.jsonl', lines({ traces: [{ nodes: [q, a] }] }));
  for (const { records, problems } of [results, traces]) {
    expect(problems).toEqual([]);
    expect(said(records[0]!)).toEqual([
      ['prompt', 'q'],
      ['action', 'a'],
    ]);
  }
});

test('acc and score of any kind are shown: as success and reward where they are those, else under what else the line says', async () => {
  const { records, problems } = await read('a10/9.jsonl');
  expect(problems).toEqual([]);
  expect(records.map(({ reward, success }) => [reward, success])).toEqual([
    [1, true],
    [1, null],
    [1, null],
    [1, null],
  ]);
  const verl = { input: 'q', output: 'a', score: 1 };
  const others = await written(
    '9.jsonl',
    lines({ ...verl, acc: 0.5 }, { ...verl, acc: 'False' }, { ...verl, acc: 'half' }, { ...verl, acc: [1, 0] }, { ...verl, score: { a: 1 } }),
  ); // prettier-ignore
  expect(others.problems).toEqual([]);
  expect(others.records.map(({ reward, success, extras }) => [reward, success, extras])).toEqual([
    [1, null, [['acc', '0.5']]],
    [1, false, []],
    [1, null, [['acc', 'half']]],
    [1, null, [['acc', '[1,0]']]],
    [null, null, [['score', '{"a":1}']]],
  ]);
});

test('a call is left out only where the text writes it between tags of calls, each as often as it is there', async () => {
  const { records } = await read('a14/results.jsonl');
  expect([records[0]?.toolCalls, callsOf(records[0]!)]).toEqual([1, ['refresh({})']]);
  const call = (name: string, args: unknown) => ({ function: { name, arguments: args } });
  const inText = (name: string, args: string) => `<tool_call>{"name": "${name}", "arguments": ${args}}</tool_call>`;
  const { records: others } = await written(
    'results.jsonl',
    lines(
      result(agent(inText('f', '{}'), call('f', '{}'))), // written: once
      result(agent(inText('f', '{}'), call('f', '{}'), call('f', {}))), // two, of which one is written
      result(agent(inText('g', '{}'), call('f', '{}'))), // another's
      result(agent(inText('f', '{"a": 1}'), call('f', { a: 1 }))), // blanks do not count
      result(agent('So {"a":1} it is', call('f', { a: 1 }))), // prose
    ),
  );
  expect(others.map(({ toolCalls }) => toolCalls)).toEqual([1, 2, 2, 1, 1]);
});

test('what Arrow filled with null is no argument', async () => {
  const args = { query: 'x', city: null, near: { a: null, b: 1 } };
  const { records } = await written('results.jsonl', lines(result(agent('', { name: 'f', arguments: args }))));
  expect(callsOf(records[0]!)).toEqual(['f({"query":"x","near":{"b":1}})']);
});

test.each(['a5/verifiers/results.jsonl', 'a5/ragen/rollouts_step_5.jsonl'])('%s: ids beyond 2^53 keep three groups apart and are shown whole', async (path) => {
  const { table, groups, records } = await read(path);
  expect(Array.from(table.columns.group.subarray(0, 6))).toEqual([0, 0, 1, 1, 2, 2]);
  expect(groups).toEqual(['1152921504606846976', '1152921504606846977', '1152921504606846978']);
  expect(rewards(records)).toEqual([0, 0, 1, 1, 2, 2]);
}); // prettier-ignore

test('only whole numbers that a double would round become texts; long decimals and digits in texts stay', async () => {
  const text =
    '{"input": "id 1152921504606846977", "output": "a", "score": 0.1234567890123456, "seed": -1152921504606846977, "safe": 9007199254740991}';
  const { records } = await written('1.jsonl', `${text}\n`);
  expect(records[0]?.reward).toBe(0.1234567890123456);
  expect(records[0]?.segments[0]?.text).toBe('id 1152921504606846977');
  expect(records[0]?.extras).toEqual([
    ['seed', '-1152921504606846977'],
    ['safe', '9007199254740991'],
  ]);
});

test('groups of two runs that are dropped together stay apart, those in parts of one run do not', async () => {
  const { table, records } = await read('a7/run_a/results.jsonl', 'a7/run_b/results.jsonl');
  expect(Array.from(table.columns.group.subarray(0, 8))).toEqual([0, 0, 1, 1, 2, 2, 3, 3]);
  expect(rewards(records)).toEqual([0, 1, 0, 1, 5, 6, 5, 6]);
  const line = lines(result());
  const groups = async (...names: readonly string[]) =>
    Array.from((await readAll(names.map((name) => fileOf(name, line)))).table.columns.group.subarray(0, names.length));
  expect(await groups('results.jsonl', 'results.jsonl')).toEqual([0, 1]); // two files without their folders
  expect(await groups('a.jsonl', 'b.jsonl')).toEqual([0, 1]);
  expect(await groups('rank_0.jsonl', 'rank_1.jsonl')).toEqual([0, 0]);
  expect(await groups('data-00000-of-00002.jsonl', 'data-00001-of-00002.jsonl')).toEqual([0, 0]);
});

test('the step is the last that a path names', async () => {
  const { records } = await read('a8/from_step_2000/step_5/results.jsonl', 'a8/from_step_2000/step_6/results.jsonl');
  expect(records.map(({ step }) => step)).toEqual([5, 5, 6, 6]);
  expect(stepOfPath('global_step_100/rollouts/7.jsonl')).toBe(7);
  expect(stepOfPath('step_3/rank_0.jsonl')).toBe(3);
  expect(stepOfPath('run/step=12/completions_00013.parquet')).toBe(13);
});

test('roles of Llama 3 that are glued to the line before divide what the agent and its tools wrote', async () => {
  const { records } = await read('a6/7.jsonl');
  expect(said(records[0]!)).toEqual([
    ['system', 'system\n\nYou look things up.'],
    ['prompt', 'user\n\nWho wrote Emma?'],
    ['prompt', 'assistant'],
    ['think', '<think>I should look.</think>'],
    ['action', '{"name": "search"}'],
    ['observation', 'ipython\n\nEmma, a novel by Jane Austen.'],
    ['action', 'assistant'],
    ['answer', '<answer>Jane Austen</answer>'],
  ]);
  const kinds = async (input: string, output: string) =>
    said((await written('1.jsonl', lines({ input, output, score: 1 }))).records[0]!).map(([kind]) => kind);
  const llama = 'user\n\nGo onassistant\n\n';
  expect(await kinds(llama, 'Jane Austenuser\n\nThanksassistant\n\nBye')).toEqual(['prompt', 'prompt', 'action', 'prompt', 'action']); // prettier-ignore
  expect(await kinds(llama, 'You are a superuser\n\nAsk the user\n\nNow')).toEqual(['prompt', 'prompt', 'action']);
  // of ChatML a line holds the role alone
  expect(await kinds('user\nGo on\nassistant\n', 'Say “a.user\n\nb”')).toEqual(['prompt', 'prompt', 'action']);
});

test('without an id of the group verl’s rollouts of equal prompts are one group, and it is said to be a guess', async () => {
  const line = (input: string) => ({ input, output: 'a', score: 1, step: 1 });
  const { table, records } = await written('1.jsonl', lines(line('p'), line('q'), line('p')));
  expect(Array.from(table.columns.group.subarray(0, 3))).toEqual([0, 1, 0]);
  expect(records[0]?.guessed).toContain('group');
});

test.each(['none', 'snappy', 'v2pages', 'nodict', 'zstd', 'gzip', 'brotli', 'lz4'])('Parquet written with %s is read', async (how) => {
  const { records, problems } = await read(`a9/completions_${how}.parquet`);
  expect(problems).toEqual([]);
  expect(rewards(records)).toEqual([1, 0, null]);
}); // prettier-ignore

test('Parquet of messages, of no messages and of null, and of half precision, is read', async () => {
  expect(rewards((await read('a9/completions_half.parquet')).records)).toEqual([1, 0, 0.5]);
  const { records, problems } = await read('a9/completions_nested.parquet');
  expect(problems).toEqual([]);
  expect(records.map(said)).toEqual([[['prompt', 'p'], ['action', 'a']], [['prompt', 'p']], [['call', 'f()']]]); // prettier-ignore
});

test('of TRL’s number columns neither whole numbers nor those behind the advantage are rewards: log_extra wrote them', async () => {
  const { records } = await read('a9/completions_extra_numbers.parquet');
  expect(rewards(records)).toEqual([1, 0, null]);
  expect(records[0]).toMatchObject({ rewardParts: [['r', 1]], extras: [['solution', '42'], ['difficulty', '3']] }); // prettier-ignore
  const line = { step: 1, prompt: 'p', completion: 'a', exact: 0.5, difficulty: 3, advantage: 0.5, share: 0.25 };
  const behind = await written('a.jsonl', lines(line));
  expect(rewards(behind.records)).toEqual([3.5]); // JSON doesn't say which numbers are whole by nature
  const context = { pattern: DEFAULT_PATTERN, wholeNumbers: new Set(['difficulty']) };
  expect(rewards(trl.read(line, context))).toEqual([0.5]);
  const { file } = caseOf('a9/completions_extra_numbers.parquet');
  expect([...(await openParquet(file)).wholeNumbers]).toEqual(['step', 'solution', 'difficulty']);
});

test.each([
  ['blanks alone', '\n \n\n'],
  ['an episode without traces', '{"traces": []}\n'],
])('a file of %s is said to hold no rollout', async (_, text) => {
  const { problems, files } = await written('x.jsonl', text);
  expect(files[0]?.rollouts).toBe(0);
  expect(problems).toEqual([expect.objectContaining({ file: 'x.jsonl', line: null, got: 'no rollouts' })]);
});

test('where files hold no rollout nothing says that they are still being read', () => {
  const steps = { steps: [], unit: 'tokens' } as const;
  const html = renderToStaticMarkup(createElement(RolloutDetails, { list: new Int32Array(), means: steps }));
  expect(html).toContain('no rollouts');
  expect(html).not.toContain('Reading');
});

test('rewards that verifiers 0.2 wrote as plain numbers are read as they are', async () => {
  const { records, problems } = await read('c1/traces.jsonl');
  expect(problems).toEqual([]);
  expect(rewards(records)).toEqual([0.25, 1.25, 0.25, 1.25]);
  expect(records[1]?.rewardParts).toEqual([['correct', 1], ['format', 0.25]]); // prettier-ignore
});

test('of prime-rl’s folders `all` and `effective` each episode is read once, and a failed one counts as such', async () => {
  const [all, effective] = ['all', 'effective'].map((name) => `c2/run/rollouts/step_12/train/${name}/traces.jsonl`);
  const { records, groups, problems, table } = await read(all!, effective!);
  expect(problems).toEqual([]);
  expect(rewards(records)).toEqual([0, 1, 0, 1, 0, null]);
  expect(records[5]).toMatchObject({ id: 'e5', group: 'g1', step: 12, stop: 'failed' });
  expect([groups.length, table.rows]).toEqual([2, 6]);
  expect(rewards((await read(effective!)).records)).toEqual([0, 1, 0]); // alone it is read
});

/** A trace with two branches from one prompt: nodes 1 and 2. */
const branched = {
  id: 't0',
  nodes: [
    { parent: null, message: { role: 'user', content: 'q' }, sampled: false, token_ids: [1, 2], mask: [false, false] },
    { parent: 0, message: { role: 'assistant', content: 'a' }, sampled: true, token_ids: [3, 4], mask: [true, true] },
    { parent: 0, message: { role: 'assistant', content: 'b' }, sampled: true, token_ids: [5, 6, 7], mask: [false, true, true] }, // prettier-ignore
  ],
  rewards: { right: { score: 1, weight: 1 } },
};
const annotation = (index: number, lists: object, info = {}) => ({
  ...{ version: 1, trace_id: 't0', info },
  branches: [{ index, ...lists }],
});
const STREAM = 'run/monitors/file/traces/stream/00000.jsonl';
const ANNOTATIONS = 'run/monitors/file/traces/annotations/trainer/00000.jsonl';

test('prime-rl’s stream of traces has its annotations: the newest wins, and a node takes only values without a gap', async () => {
  const files = [
    fileOf(STREAM, lines(branched, { ...branched, id: 't1' })),
    fileOf(
      ANNOTATIONS,
      lines(
        annotation(0, { advantages: [null, null, 0.5, 0.25], entropies: [null, null, 1, 2] }, { step: 3 }),
        annotation(1, { advantages: [null, null, null, -0.5, -1], entropies: [null, null, null, 3, null] }),
        annotation(1, { advantages: [null, null, null, 0.75, 2] }),
      ),
    ),
  ];
  const { records, problems, files: reports } = await readAll(files);
  expect(problems).toEqual([]);
  expect(reports.map(({ format }) => format)).toEqual(['prime-rl annotations', 'verifiers traces']);
  expect(records.map(({ id }) => id)).toEqual(['t0', 't1']);
  expect(records[0]?.tokens?.channels).toMatchObject({ advantage: [null, null, null, 0.75, 2] });
  expect(records[0]?.tokens?.channels.entropy).toBeUndefined();
  expect(records[0]?.extras.flat().join()).toContain('"step":3');
  expect(records[1]?.tokens?.channels.advantage).toBeUndefined();
  const other = [fileOf(STREAM.replace('run', 'other'), lines(branched)), files[1]!];
  expect((await readAll(other)).records[0]?.tokens?.channels.advantage).toBeUndefined(); // another run
});

test('special tokens around a role separate turns: a tool’s answer is not the agent’s words', async () => {
  const { records, groups, problems } = await read('c9/40.jsonl');
  expect(problems).toEqual([]);
  expect(groups).toHaveLength(3);
  const roles = records[0]?.segments.map(({ role, turn }) => [role, turn]);
  expect(records[0]).toMatchObject({ turns: 2, toolCalls: 1 });
  expect(roles?.map(([role]) => role)).toEqual(['system', 'prompt', 'prompt', 'action', 'action', 'action', 'prompt', 'observation', 'prompt', 'action']); // prettier-ignore
  const llama =
    '<|start_header_id|>user<|end_header_id|>\n\nq<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n';
  const output = 'ask<|eot_id|><|start_header_id|>ipython<|end_header_id|>\n\n7<|eot_id|>';
  const read3 = await written('a.jsonl', lines({ input: llama, output, score: 1 }));
  expect(read3.records[0]?.segments.map(({ role }) => role)).toEqual(['prompt', 'prompt', 'action', 'observation']);
});

test.each([
  ['a JSON list', JSON.stringify([{ input: 'q', output: 'a', score: 1 }], null, 2)],
  ['a JSON list', '[]'],
  ['a wandb table', JSON.stringify({ columns: ['step', 'prompt'], data: [[1, 'q']] })],
  ['a wandb table', JSON.stringify({ columns: ['step', 'prompt'], data: [[1, 'q']] }, null, 2)],
  ['a wandb table', `{"ncols": 2, "nrows": 1, "data": [[1, "q"]], "columns": ["step", "prompt"]}`],
  ['a trajectory of ART', lines({ messages: [{ role: 'user', content: 'q' }], reward: 1, metrics: {}, metadata: {}, logs: [] })], // prettier-ignore
  ['a group of trajectories of ART', lines({ trajectories: [{ messages: [], reward: 1 }] })],
])('%s is named as what it is', async (got, text) => {
  const { records, problems } = await written('x.json', text);
  expect([records.length, problems.map((problem) => problem.got)]).toEqual([0, [got]]);
});

test('JSON Lines compressed by gzip are read, in several members too; a cut, a damaged and a mislabelled file are refused', async () => {
  const line = (input: string) => `${JSON.stringify({ input, output: 'a', score: 1 })}\n`;
  const [one, two] = [gzipSync(line('p').repeat(2000)), gzipSync(line('q'))];
  const whole = new Uint8Array(Buffer.concat([one, two]));
  const { table, library, problems } = await readAll([fileOf('12.jsonl.gz', whole)]);
  expect([table.rows, table.columns.step[2000], problems]).toEqual([2001, 12, []]);
  expect((await library.read(2000, DEFAULT_PATTERN)).segments[0]?.text).toBe('q');
  const damaged = new Uint8Array(two);
  damaged[20]! ^= 1;
  const others = [one.subarray(0, -9), two.subarray(0, 15), damaged].map((bytes, i) => fileOf(`${i}.jsonl.gz`, new Uint8Array(bytes))); // prettier-ignore
  const refused = await readAll([...others, fileOf('3.jsonl.gz', line('r'))]);
  expect(refused.records).toHaveLength(1); // the name says nothing
  expect(refused.problems.map(({ file, line: at }) => [file, at])).toEqual([0, 1, 2].map((i) => [`${i}.jsonl.gz`, null])); // prettier-ignore
});

test('gzip whose content is over the limit is refused before all of it is unpacked, whatever size it claims', async () => {
  const packed = new Uint8Array(gzipSync(new Uint8Array(2 ** 18))); // a quarter MiB of zeros in 0.3 kB
  packed.fill(0, -4); // the size that it claims
  await expect(unpacked(new Blob([packed]), 2 ** 18 - 1)).rejects.toThrow(/^gzip: its content is larger than 1 GB/);
  expect((await unpacked(new Blob([packed]), 2 ** 18)).size).toBe(2 ** 18);
  const unread = Object.assign(new Blob([packed, new Uint8Array(2 ** 22)]), { slices: 0 });
  unread.slice = (from, to) => (unread.slices++, Blob.prototype.slice.call(unread, from, to));
  await expect(unpacked(unread, 2 ** 16)).rejects.toThrow(/larger/);
  expect(unread.slices).toBe(2); // its head, and the first of five parts
});

test('JSON Lines compressed by zstd are read, and read again; content over 1 GB and a damaged file are refused', async () => {
  const { records, problems } = await read('zstd/2.jsonl.zst', 'zstd/3.jsonl.zst'); // the second has two frames
  expect(problems).toEqual([]);
  expect(rewards(records)).toEqual([1, 0, 1, 0, 1, 0]);
  expect(records.map(({ step }) => step)).toEqual([2, 2, 3, 3, 3, 3]);
  const frame = [0x28, 0xb5, 0x2f, 0xfd, 0, 0x58];
  const block = [0x02 | (6 << 3), 0, 0x10]; // kind 1: a byte that is repeated 2^17 + 6 times
  const bomb = Uint8Array.from([...frame, ...Array.from({ length: 10_000 }, () => [...block, 32]).flat(), 1, 0, 0]);
  const refused = [bomb, bomb.slice(0, 900), bomb.slice(0, 8)].map((bytes) => readAll([fileOf('x.jsonl.zst', bytes)]));
  const said = (await Promise.all(refused)).map(({ problems: [problem] }) => problem?.got);
  expect(said).toEqual([expect.stringContaining('1 GB'), expect.stringContaining('cut off'), expect.stringContaining('zstd')]); // prettier-ignore
});

const SYSTEM = `You can call these tools.\n${'A long description of them. '.repeat(40)}`;
const completion = (question: string, answer: string, step = 1) =>
  JSON.stringify({
    step,
    prompt: [
      { role: 'system', content: SYSTEM },
      { role: 'user', content: `Solve this task: what is ${question}, from left to right?` },
    ],
    completion: [{ role: 'assistant', content: answer }],
    advantage: 0,
  });

test('groups that are guessed from prompts are labelled by the part where the prompts differ', async () => {
  const lines = [
    completion('62 + 2', 'a'),
    completion('62 + 2', 'b'),
    completion('614 − 3', 'a'),
    completion('62 + 2', 'c', 2),
  ];
  const { groups } = await readAll([fileOf('completions.jsonl', lines.join('\n'))]);
  // the same prompt in another step is another group with the same label
  expect(groups).toEqual([
    '62 + 2, from left to right?',
    '614 − 3, from left to right?',
    '62 + 2, from left to right?',
  ]);
});

test('a run with one prompt is labelled by its last message, and prompts that differ late get a number', async () => {
  const only = await readAll([fileOf('completions.jsonl', completion('62 + 2', 'a'))]);
  expect(only.groups).toEqual(['Solve this task: what is 62 + 2, from left to right?']);
  const [x, y] = ['x', 'y'].map((last) => completion(`${'1 + '.repeat(40)}${last}`, 'a'));
  const late = await readAll([fileOf('completions.jsonl', [completion('9', 'a'), x, y].join('\n'))]);
  expect(new Set(late.groups).size).toBe(3);
});

test('prompts that differ only after an example of an answer are told apart', async () => {
  const shot = (question: string) => {
    const prompt = [
      { role: 'user', content: 'What is 1 + 1?' },
      { role: 'assistant', content: '2' },
      { role: 'user', content: `What is ${question}?` },
    ];
    return JSON.stringify({ step: 1, prompt, completion: [{ role: 'assistant', content: 'x' }], advantage: 0 });
  };
  const { groups } = await readAll([fileOf('completions.jsonl', [shot('5 + 5'), shot('7 + 1')].join('\n'))]);
  expect(groups.map((label) => label.split('?')[0])).toEqual(['5 + 5', '7 + 1']);
});
