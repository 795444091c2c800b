import { expect, test } from 'vitest';
import { ALGORITHM_NAMES, ALGORITHMS } from '../../src/config/algorithms.ts';
import { parseConfig } from '../../src/config/config.ts';
import type { Metrics } from '../../src/domain/metrics.ts';
import type { RunEvent } from '../../src/wire/commands.ts';
import { openSession } from '../../src/session/session.ts';
import { NO_HALVES, storesHalves } from './halves.ts';
import { host } from './host.ts';
import { TINY, train } from './tinyRun.ts';

test('the same seed twice, and another decode chunk, give identical weights after four updates; another seed does not', async () => {
  const first = await train({});
  expect(first.metrics.length).toBe(5);
  expect((await train({})).hash).toBe(first.hash);
  expect((await train({ decodeChunk: 64 })).hash).toBe(first.hash);
  expect((await train({ seed: 6 })).hash).not.toBe(first.hash);
});

test('in halves too the same seed gives identical weights whatever the chunk, others than in f32, and creates nothing', async ({
  skip,
}) => {
  skip(!(await storesHalves()), NO_HALVES);
  const first = await train({ storage: 'f16' });
  expect((await train({ storage: 'f16', decodeChunk: 64 })).hash).toBe(first.hash);
  expect((await train({})).hash).not.toBe(first.hash);
  for (const values of first.metrics.slice(1)) {
    expect(values['engine/creations']).toBe(0);
    expect(values['rollout/logprob_mismatch']).toBeLessThanOrEqual(1e-3);
  }
});

test('older weights draw on the device too, and the current ones learn: measured from the second update on', async () => {
  const knobs = { staleness: 1, correction: 'truncated', learningRate: 0.01, evalEvery: 0 };
  const { metrics, hash } = await train(knobs);
  const updates = metrics.slice(1);
  expect(updates.map((values) => values['rollout/staleness'])).toEqual([0, 1, 1, 1]);
  for (const values of updates) {
    const measured = values['rollout_corr/k3_kl']!;
    if (values['rollout/staleness'] === 0) expect(measured).toBeLessThan(1e-8);
    else expect(measured).toBeGreaterThan(1e-5);
    expect(values['engine/creations']).toBe(0);
  }
  // the second batch has other probabilities than the first, and the weights that learned from both are others
  expect((await train({ ...knobs, correction: 'none' })).hash).not.toBe(hash);
  expect((await train({ ...knobs, staleness: 0 })).hash).not.toBe(hash);
});

test('the same with rows enough that those that wait leave a chunk: any decode chunk gives identical weights', async () => {
  const many = { prompts: 10, groupSize: 4, updates: 1, evalEvery: 0 }; // who waits is decided within an update
  const { hash } = await train(many);
  expect((await train({ ...many, decodeChunk: 64 })).hash).toBe(hash);
});

test('an update awaits one read-back per decode chunk and one more, submits little and creates nothing', async () => {
  const { metrics } = await train({ decodeChunk: 64, updates: 2, evalEvery: 0 });
  for (const values of metrics.slice(1)) {
    // four turns at most, each decoded in one chunk; then the report
    expect(values['engine/readbacks']).toBeLessThanOrEqual(5);
    // chunks, score, credit, four optimizer steps, report
    expect(values['engine/submits']).toBeLessThanOrEqual(4 + 1 + 1 + 4 + 1);
    expect(values['engine/creations']).toBe(0);
    expect(values['engine/dispatches']).toBeGreaterThan(0);
    expect(values['rollout/logprob_mismatch']).toBeLessThanOrEqual(1e-3);
  }
});

test('one run goes through all algorithms and back on the device: nothing is created, every number is finite, ratios start at 1', async () => {
  const session = await openSession(
    parseConfig({ ...TINY, updates: 1000, evalEvery: 0, miEvery: 0 }),
    host,
    () => undefined,
  );
  let update = 0;
  const next = async (): Promise<Metrics> => {
    for (;;) {
      const { value } = (await session.events.next()) as { value: RunEvent };
      if (value.type === 'error') throw new Error(value.message);
      if (value.type === 'metrics' && value.update > update) {
        update = value.update;
        return value.values;
      }
    }
  };
  await next();
  for (const name of [...ALGORITHM_NAMES, ...ALGORITHM_NAMES.toReversed()]) {
    session.configure({ ...ALGORITHMS[name].set, filterShare: 0.5 });
    const values = await next();
    expect(values['engine/creations'], name).toBe(0);
    expect(values['mask/observation_weights'], name).toBe(0);
    for (const [metric, value] of Object.entries(values)) expect(value, `${name} ${metric}`).toSatisfy(Number.isFinite);
  }
  expect(update).toBe(1 + 2 * ALGORITHM_NAMES.length);
  session.dispose();
});
