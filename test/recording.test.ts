import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { readRecording, recordingText, taskOf } from '../src/runs/recording.ts';
import { fakeUpdate } from './ui/fake-run.ts';
import { example, exampleVocabulary } from './ui/example.ts';
import { parseConfig } from '../src/config/config.ts';
import type { MetricName } from '../src/domain/metrics.ts';
import { bareRun } from '../src/runs/run.ts';
import { measure } from '../src/runs/runLog.ts';
import type { Series } from '../src/runs/series.ts';

const shipped = readFileSync('public/recording.json', 'utf8');

test('the shipped recording is at most 150 kB compressed and improves on all its tasks', () => {
  expect(gzipSync(shipped).length).toBeLessThanOrEqual(150_000);
  const { series, batches, vocabulary, begun } = readRecording(shipped);
  const heldOut = series.get('eval/success');
  expect(heldOut?.latest).toBeGreaterThan((heldOut?.first ?? NaN) + 0.2);
  expect(series.get('rollout/success')?.length).toBe(160);
  expect(begun).toMatchObject({ env: 'number-hunt', seed: 7 });
  expect(batches.map(({ batch }) => batch.update)).toEqual([1, 10, 25, 60, 160]);
  for (const { batch } of batches) expect(Math.max(...batch.tokens)).toBeLessThan(vocabulary.length);
});

test('in the shipped recording the advantages are those of the rewards, and no observation is trained', () => {
  for (const { batch } of readRecording(shipped).batches) {
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

test('a recording is a run and survives its text: knobs, curves, typed arrays, names and parts; another version is refused', () => {
  const named = { ...example.episodes[0]!, names: new Map([[3, 'Ada']]) };
  const batch = { ...example, episodes: [named, ...example.episodes.slice(1)] };
  const series = new Map<MetricName, Series>();
  measure(series, 0, { 'eval/success': 0.25 });
  measure(series, 1, { 'eval/success': 0.5, 'rollout/success': 0.123456789 });
  const run = bareRun({
    ...{ id: 3, name: 'p', started: '2026-11-23T00:00:00Z', begun: parseConfig({ seed: 4 }), update: 1 },
    ...{ backend: { kind: 'gpu', adapter: 'x' }, series, vocabulary: exampleVocabulary },
    batches: [{ batch, config: parseConfig({ seed: 4 }) }],
  });
  const text = recordingText(run);
  const again = readRecording(text);
  expect(again).toMatchObject({ id: 0, name: 'p', begun: run.begun, config: run.begun, update: 1, checkpoint: null });
  expect(again.backend).toEqual(run.backend);
  expect([...(again.series.get('eval/success')?.points.y ?? [])]).toEqual([0.25, 0.5]);
  expect([...(again.series.get('rollout/success')?.points.y ?? [])]).toEqual([0.123457]);
  const [kept] = again.batches;
  const read = kept?.batch;
  expect(kept?.config.seed).toBe(4);
  expect(read?.tokens).toEqual(example.tokens);
  expect(read?.roles).toEqual(example.roles);
  expect(read?.parts.outcome).toEqual(example.parts.outcome);
  expect(read?.episodes[0]?.names).toEqual(named.names);
  read?.advantages.forEach((a, i) => expect(a).toBeCloseTo(example.advantages[i] ?? NaN, 5));
  expect(() => readRecording(text.replace('"version":3', '"version":9'))).toThrow('version 9');
});
