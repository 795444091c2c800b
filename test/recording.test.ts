import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { readRecording, recordingText, taskOf } from '../src/runs/recording.ts';
import { fakeUpdate } from './ui/fake-run.ts';
import { example, exampleVocabulary } from './ui/example.ts';
import { parseConfig } from '../src/config/config.ts';

const shipped = readFileSync('public/recording.json', 'utf8');

test('the shipped recording is at most 150 kB compressed and improves on all its tasks', () => {
  expect(gzipSync(shipped).length).toBeLessThanOrEqual(150_000);
  const { heldOut, success, batches, vocabulary } = readRecording(shipped);
  expect(heldOut.after).toBeGreaterThan(heldOut.before + 0.2);
  expect(success).toHaveLength(160);
  expect(batches.map(({ update }) => update)).toEqual([1, 10, 25, 60, 160]);
  for (const { tokens } of batches) expect(Math.max(...tokens)).toBeLessThan(vocabulary.length);
});

test('in the shipped recording the advantages are those of the rewards, and no observation is trained', () => {
  for (const batch of readRecording(shipped).batches) {
    const rewards = batch.episodes.map(({ reward }) => reward);
    const mean = rewards.reduce((sum, r) => sum + r, 0) / rewards.length;
    const std = Math.sqrt(rewards.reduce((sum, r) => sum + (r - mean) ** 2, 0) / (rewards.length - 1));
    batch.episodes.forEach(({ row, reward }) => {
      for (let t = 0; t < batch.length; t++) {
        const i = row * batch.length + t;
        if (batch.lossMask[i] === 0) continue;
        expect(batch.roles[i]).toBe(2);
        // six digits are kept
        expect(Math.abs((batch.advantages[i] ?? NaN) - (reward - mean) / (std + 1e-6))).toBeLessThan(1e-3);
      }
    });
  }
});

test('a task taken out of a batch keeps every number of its rollouts, cut to the longest', () => {
  const event = fakeUpdate(3, 0, parseConfig()).find((each) => each.type === 'batch');
  if (event?.type !== 'batch') throw new Error('the made-up update has a batch');
  const { batch } = event;
  const task = taskOf(batch, 5);
  const members = batch.episodes.filter(({ group }) => group === 5);
  expect(task.rows).toBe(members.length);
  expect(task.length).toBe(Math.max(...members.map(({ row }) => batch.lengths[row] ?? 0)));
  members.forEach(({ row }, at) => {
    const [own, cut] = [row * batch.length, at * task.length];
    for (const name of ['tokens', 'roles', 'advantages', 'gradWeights', 'lossMask'] as const) {
      expect([...task[name].subarray(cut, cut + task.length)]).toEqual([
        ...batch[name].subarray(own, own + task.length),
      ]);
    }
  });
});

test('a recording survives its text: typed arrays, names and parts; another version is refused', () => {
  const named = { ...example.episodes[0]!, names: new Map([[3, 'Ada']]) };
  const batch = { ...example, episodes: [named, ...example.episodes.slice(1)] };
  const recording = {
    ...{
      preset: 'p',
      seed: 1,
      vocabulary: exampleVocabulary,
      success: [0.5],
      evaluated: 'all' as const,
      heldOut: { before: 0, after: 1 },
    },
    batches: [batch],
  };
  const text = recordingText(recording);
  const [read] = readRecording(text).batches;
  expect(read?.tokens).toEqual(example.tokens);
  expect(read?.roles).toEqual(example.roles);
  expect(read?.parts.outcome).toEqual(example.parts.outcome);
  expect(read?.episodes[0]?.names).toEqual(named.names);
  read?.advantages.forEach((a, i) => expect(a).toBeCloseTo(example.advantages[i] ?? NaN, 5));
  expect(() => readRecording(text.replace('"version":2', '"version":9'))).toThrow('version 9');
});
