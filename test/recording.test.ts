import { readdirSync, statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readRecording, recordingText, taskBatch } from '../src/runs/recording.ts';
import { fakeUpdate } from './ui/fake-run.ts';
import { example, exampleVocabulary } from './ui/example.ts';
import { parseConfig } from '../src/config/config.ts';
import { PRESETS, type PresetName } from '../src/config/presets.ts';
import { recordedConfig, recordingFile } from '../src/config/recordings.ts';
import { Role } from '../src/domain/tokens.ts';
import { shippedRecording } from './shippedRecording.ts';
import type { MetricName } from '../src/domain/metrics.ts';
import { runWithDefaults } from '../src/runs/run.ts';
import { addMetrics } from '../src/runs/runLog.ts';
import type { Series } from '../src/runs/series.ts';

const FOLDER = 'public/recordings';
const RECORDED = Object.keys(PRESETS) as PresetName[];

test('there is a recording of every preset, each at most 150 kB and together at most 3 MB', () => {
  const sizes = readdirSync(FOLDER).map((file) => [file, statSync(`${FOLDER}/${file}`).size] as const);
  expect(sizes.map(([file]) => `recordings/${file}`).sort()).toEqual(RECORDED.map(recordingFile).sort());
  for (const [file, bytes] of sizes) expect(bytes, file).toBeLessThanOrEqual(150_000);
  expect(sizes.reduce((sum, [, bytes]) => sum + bytes, 0)).toBeLessThanOrEqual(3e6);
});

test.each(RECORDED)(
  'the recording of %s is of the preset as it is now, has only whole episodes, and holds what its run said of each batch',
  (preset) => {
    const { begun, batches, readings, vocabulary } = shippedRecording(preset);
    expect(begun).toEqual(recordedConfig(preset));
    const own = { ...PRESETS[preset].set } as Readonly<Record<string, unknown>>;
    const other = Object.entries(begun).filter(([knob, value]) => knob in own && value !== own[knob]);
    expect(other.map(([knob]) => knob).filter((knob) => !['updates', 'evalTasks'].includes(knob))).toEqual([]);
    expect(begun).toMatchObject({ backend: 'cpu', seed: 7 });
    expect(batches.map(({ batch }) => batch.update)).toEqual([...readings.keys()]);
    expect(batches.at(-1)?.batch.update).toBe(begun.updates);
    for (const { batch } of batches) {
      // every episode can play all its turns: the limit of tokens cuts none
      expect(batch.episodes.filter(({ stop }) => stop === 'tokens')).toEqual([]);
      expect(Math.max(...batch.tokens)).toBeLessThan(vocabulary.length);
      const said = readings.get(batch.update);
      // what the learner had recomputed before the update, by another policy on the same weights: float32 rounding, and the digits kept
      batch.logprobs.forEach((logprob, i) => {
        if (batch.roles[i] === Role.action)
          expect(Math.abs((said?.moved.before[i] ?? NaN) - logprob)).toBeLessThan(1e-3);
      });
      for (const { row, position, before, tokens } of said?.distributions ?? []) {
        const drawn = tokens.indexOf(batch.tokens[row * batch.length + position] ?? -1);
        // four digits of a log-probability that may be −20
        if (drawn >= 0) expect(Math.abs((before[drawn] ?? NaN) - (said?.moved.before[row * batch.length + position] ?? NaN))).toBeLessThan(1e-2); // prettier-ignore
      }
      for (const { why } of said?.whys ?? []) {
        const parts = [why.kl, why.entropy, why.value, why.momentum, why.decay, why.residual, why.elsewhere ?? 0, why.together ?? 0, ...why.rollouts]; // prettier-ignore
        // six digits of each part are kept
        expect(Math.abs(parts.reduce((sum, part) => sum + part, 0) - (why.after - why.before))).toBeLessThan(1e-4);
      }
    }
  },
);

test('the recording of the first preset improves on all its tasks', () => {
  const { series, batches, vocabulary, begun } = shippedRecording();
  const heldOut = series.get('eval/success');
  expect(heldOut?.lastValue).toBeGreaterThan((heldOut?.firstValue ?? NaN) + 0.2);
  expect(series.get('rollout/success')?.length).toBe(160);
  expect(begun).toMatchObject({ env: 'number-hunt', seed: 7 });
  expect(batches.map(({ batch }) => batch.update)).toEqual([1, 10, 25, 60, 160]);
  for (const { batch } of batches) expect(Math.max(...batch.tokens)).toBeLessThan(vocabulary.length);
});

test('a recording says of each update what the monitor said then: the broken run is trapped at its end, the first one’s is well', () => {
  const saidOf = (preset: PresetName) => [...shippedRecording(preset).readings].map(([update, { health }]) => ({ update, health })); // prettier-ignore
  for (const { update, health } of saidOf('break-it')) expect(health?.since).toBeLessThanOrEqual(update);
  expect(saidOf('break-it')[0]?.health?.state).toBe('ok');
  expect(saidOf('break-it').at(-1)?.health?.state).toBe('trap');
  expect(saidOf('number-hunt').map(({ health }) => health?.state)).toEqual(['ok', 'ok', 'ok', 'ok', 'ok']);
});

test('in the shipped recording the advantages are those of the rewards, and no observation is trained', () => {
  for (const { batch } of shippedRecording().batches) {
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
  const task = taskBatch(batch, 5);
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
  addMetrics(series, 0, { 'eval/success': 0.25 });
  addMetrics(series, 1, { 'eval/success': 0.5, 'rollout/success': 0.123456789 });
  const run = runWithDefaults({
    ...{ id: 3, name: 'p', started: '2026-11-23T00:00:00Z', begun: parseConfig({ seed: 4 }), update: 1 },
    ...{ backend: { kind: 'gpu', adapter: 'x' }, series, vocabulary: exampleVocabulary },
    batches: [{ batch, config: parseConfig({ seed: 4 }) }],
  });
  const text = recordingText({ ...run, readings: new Map(), plays: [] });
  const again = readRecording(text);
  expect(again).toMatchObject({ id: 0, name: 'p', begun: run.begun, config: run.begun, update: 1, checkpoint: null });
  expect(again.backend).toEqual(run.backend);
  expect([...(again.series.get('eval/success')?.points.y ?? [])]).toEqual([0.25, 0.5]);
  expect([...(again.series.get('rollout/success')?.points.y ?? [])]).toEqual([0.1235]);
  const [kept] = again.batches;
  const read = kept?.batch;
  expect(kept?.config.seed).toBe(4);
  expect(read?.tokens).toEqual(example.tokens);
  expect(read?.roles).toEqual(example.roles);
  expect(read?.parts.outcome).toEqual(example.parts.outcome);
  expect(read?.episodes[0]?.names).toEqual(named.names);
  read?.advantages.forEach((a, i) => expect(a).toBeCloseTo(example.advantages[i] ?? NaN, 5));
  expect(() => readRecording(text.replace('"version":5', '"version":9'))).toThrow('version 9');
});

test('a recording keeps where the contexts of each row begin; without any it has none', () => {
  const contextStarts = Int32Array.from(example.tokens, (_, i) => (i % example.length < 3 ? 0 : 3));
  const run = (batch: typeof example) =>
    runWithDefaults({
      ...{ id: 0, name: 'contexts', started: '', begun: parseConfig(), config: parseConfig(), update: 1 },
      ...{ series: new Map(), vocabulary: exampleVocabulary, backend: { kind: 'gpu', adapter: 'x' } },
      batches: [{ batch, config: parseConfig() }],
    });
  const { group } = example.episodes[0]!;
  const back = (batch: typeof example) =>
    readRecording(recordingText({ ...run(taskBatch(batch, group)), readings: new Map(), plays: [] })).batches[0]!.batch;
  const cut = back({ ...example, contextStarts, drifted: example.roles });
  expect(cut.drifted).toEqual(cut.roles);
  expect([...cut.contextStarts!]).toEqual(Array.from(cut.tokens, (_, i) => (i % cut.length < 3 ? 0 : 3)));
  expect(back(example)).not.toHaveProperty('contextStarts');
});
