import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PRESETS, type PresetName } from '../../src/config/presets.ts';
import { parseConfig } from '../../src/config/config.ts';
import { nearestTask } from '../../src/page/files/tryHere.ts';
import { traceLines } from '../../src/rollouts/writeTraces.ts';
import { fileOf, readAll } from '../rollouts/reading.ts';
import { shippedRecording } from '../shippedRecording.ts';

const RUN = { id: 'run', name: 'run', started: '2026-11-30T00:00:00.000Z' };
const environmentOf = (preset: PresetName | null) => preset && parseConfig(PRESETS[preset].set).env;
const RECORDED = readdirSync('public/recordings').map((file) => file.replace('.recording', '') as PresetName);
/** Environments whose rollouts look as those of another one do. */
const LIKE: Readonly<Record<string, string>> = {
  ...{ 'world-facts': 'multi-hop', 'your-facts': 'multi-hop', 'bandit-reversed': 'bandit' },
};

test.each(RECORDED)('rollouts of %s, as traces: their task is found by the name in the file, and by their words', async (name) => {
  const { batches, vocabulary } = shippedRecording(name);
  const lines = batches.slice(0, 2).flatMap((batch) => traceLines(batch, vocabulary, RUN));
  const { records } = await readAll([fileOf('traces.jsonl', lines.join(''))]);
  const env = environmentOf(name)!;
  expect(new Set(records.map((record) => environmentOf(nearestTask(record))))).toEqual(new Set([env]));
  // a rollout of document search that makes no call is a bare question
  const played = records.filter(({ toolCalls }) => env !== 'document-search' || (toolCalls ?? 0) > 0);
  expect(played.length).toBeGreaterThan(records.length / 4);
  for (const { segments } of played)
    expect(environmentOf(nearestTask({ segments, task: null, extras: [] }))).toBe(LIKE[env] ?? env);
}); // prettier-ignore

test.each(['calculator', 'multi-hop', 'number-hunt', 'document-search', 'world-facts'])('chats of %s, as a folder for verl or TRL has them, lead to it', async (env) => {
  const input = readFileSync(`test/envs/transcripts/text-${env}.txt`, 'utf8');
  const line = { input, output: 'a', score: 1, step: 1 };
  const lines = [line, { ...line, input: 'q', data_source: `rollout-playground/${env}` }];
  const { records } = await readAll([fileOf('1.jsonl', lines.map((each) => `${JSON.stringify(each)}\n`).join(''))]);
  expect(records.map((record) => environmentOf(nearestTask(record)))).toEqual([LIKE[env] ?? env, env]);
}); // prettier-ignore

// after the prompts of RAGEN, Search-R1, TinyZero and ReTool, in other words; and of tasks that nothing here is like
test.each<[string | null, string, string]>([
  ['sokoban', 'You are solving the Sokoban puzzle. Push all boxes to the targets.', '<answer>Up</answer>'],
  ['frozen-lake', 'You are solving the FrozenLake puzzle. The lake is slippery.', '<answer>Left</answer>'],
  ['bandit', 'You are playing a bandit game. Pull the arm with the larger reward.', '<answer>Phoenix</answer>'],
  ['countdown', 'Using the numbers [19, 36, 55], create an equation that equals 72.', '<answer>55 + 36 - 19</answer>'],
  ['document-search', 'Answer the question. Who wrote Ada?', '<search>Ada</search><information>Doc 1</information>'],
  ['multi-hop', 'Who is the teacher of Ada?', '<search>teacher of Ada</search>'],
  ['calculator', 'What is 17 % of 240?', '<tool_call>{"name": "calculator", "arguments": {"q": "0.17*240"}}</tool_call>'],
  ['calculator', 'Find the sum of the roots.', '<tool_call>{"name": "code_interpreter", "arguments": {}}</tool_call>'],
  [null, 'Mia had 48 cards in April and half as many in May. How many cards had she in all?', 'Let me calculate: 48 + 24 = 72. #### 72'],
  [null, 'Write a function that returns the longest palindrome of a string.', '```python\ndef longest(s):\n    return max(parts(s), key=len)\n```'],
  [null, 'Which planet is largest? Choose A or B. A: Mars. B: Jupiter.', 'B'],
  [null, 'Summarise this thread in one sentence.', 'They make plans for a walk around the lake.'],
])('of a foreign prompt the nearest task is %s: %s', async (env, input, output) => {
  const { records } = await readAll([fileOf('1.jsonl', JSON.stringify({ input, output, score: 1, step: 1 }))]);
  expect(environmentOf(nearestTask(records[0]!))).toBe(env);
}); // prettier-ignore
