import { expect, test } from 'vitest';
import { ALGORITHM_NAMES, ALGORITHMS } from '../../src/config/algorithms.ts';
import { readCheckpoint, type Checkpoint } from '../../src/runs/checkpoint.ts';
import { parseConfig } from '../../src/config/config.ts';
import type { Metrics } from '../../src/domain/metrics.ts';
import type { RunEvent } from '../../src/wire/events.ts';
import { openGpuPolicy } from '../../src/model/gpuPolicy.ts';
import { learningMath } from '../../src/rl/plainLearningMath.ts';
import type { Host } from '../../src/session/host.ts';
import { openSession } from '../../src/session/session.ts';
import { BackgroundTuning } from '../../src/session/tuning.ts';
import { NO_HALVES, storesHalves } from './halves.ts';
import { host } from './host.ts';

// the least of everything: what is compared is bits, not learning
const TINY = {
  env: 'multi-hop',
  entities: 4,
  relations: 2,
  prompts: 2,
  groupSize: 2,
  layers: 1,
  width: 8,
  heads: 2,
  kvHeads: 1,
  ffn: 12,
  estimator: 'gae',
  critic: 'separate',
  warmStart: 'none',
  backend: 'gpu',
  updates: 10,
  evalEvery: 5,
  evalTasks: 4,
  seed: 5,
};

async function train(changes: Readonly<Record<string, unknown>>) {
  const session = await openSession(parseConfig({ ...TINY, ...changes }), host, () => undefined);
  const metrics: Metrics[] = [];
  for await (const event of session.events) {
    if (event.type === 'error') throw new Error(event.message);
    if (event.type === 'running') break;
    if (event.type === 'metrics') metrics.push(event.values);
  }
  const hash = await session.parametersHash();
  session.dispose();
  return { hash, metrics };
}

test('the same seed twice, and another decode chunk, give identical weights after ten updates; another seed does not', async () => {
  const first = await train({});
  expect(first.metrics.length).toBe(11);
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

test('the same with rows enough that those that wait leave a chunk: any decode chunk gives identical weights', async () => {
  const many = { prompts: 10, groupSize: 4, updates: 1, evalEvery: 0 }; // who waits is decided within an update
  const { hash } = await train(many);
  expect((await train({ ...many, decodeChunk: 1 })).hash).toBe(hash);
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

// every call pays something, so that rollouts differ and there are observations in every batch
const HUNT = { env: 'number-hunt', groupSize: 4, processReward: 0.5, evalEvery: 0, miEvery: 25 };

test.each(ALGORITHM_NAMES)(
  '%s trains on the device for 3 updates without a number that is not finite', // on the CPU for 50: test/algorithms
  async (name) => {
    const { metrics } = await train({
      ...HUNT,
      ...ALGORITHMS[name].set,
      filterShare: 0.5,
      filterScore: 'reward',
      updates: 3,
    });
    expect(metrics.length).toBe(4);
    for (const values of metrics) {
      for (const [metric, value] of Object.entries(values)) expect(value, metric).toSatisfy(Number.isFinite);
    }
  },
  120_000,
);

test('both masks off grades observations on the device, any other cell does not', async () => {
  const graded = async (lossMask: string, advantageMask: string) => {
    const { metrics } = await train({ ...HUNT, lossMask, advantageMask, updates: 1 });
    return metrics.at(-1)!['mask/observation_weights']!;
  };
  expect(await graded('on', 'on')).toBe(0);
  expect(await graded('on', 'off')).toBe(0);
  expect(await graded('off', 'on')).toBe(0);
  expect(await graded('off', 'off')).toBeGreaterThan(5);
});

const COMPARED = 4; // updates after which runs have the same bits or have not

test('kernels tried out between updates leave the bits of the run alone; the next run takes those that were kept, one that names them has its bits, one that goes on takes its own', async () => {
  const kept = new Map<string, unknown>();
  const tuning = new BackgroundTuning({
    store: {
      read: (key) => Promise.resolve(kept.get(key) ?? null),
      write: (key, value) => Promise.resolve(void kept.set(key, value)),
    },
    // a slow clock, so that the box holds both sets on a busy machine too
    ...{ browser: 'this one', math: learningMath, now: () => performance.now() / 4 },
  });
  const tuned: Host = {
    ...host,
    openGpuPolicy: (gpu, spec, options) => tuning.openPolicy(openGpuPolicy, gpu, spec, options),
  };
  const open = (from: Checkpoint | null) => {
    const config = parseConfig({ ...TINY, updates: 1000, evalEvery: 0, miEvery: 0 });
    return openSession(config, tuned, () => undefined, null, from);
  };
  const run = async (between: () => Promise<void>) => {
    const session = await open(null);
    let hash = '';
    for await (const event of session.events) {
      if (event.type !== 'metrics') continue;
      if (event.update === COMPARED) hash = await session.parametersHash();
      if (event.update >= COMPARED && kept.size > 0) break;
      await between();
    }
    const { kernels } = session.policy.backend;
    const checkpoint = await session.checkpoint();
    session.dispose();
    return { hash, kernels, checkpoint };
  };
  const first = await run(() => tuning.runSlice());
  expect(first.kernels?.why).toBe('default');
  const plain = await train({ updates: COMPARED, evalEvery: 0, miEvery: 0 });
  expect(first.hash).toBe(plain.hash);
  const second = await run(() => tuning.runSlice());
  expect(second.kernels?.why).toBe('measured');
  expect(second.kernels?.tried.map(({ refused }) => refused)).toEqual(['', '']);
  const named = await train({ updates: COMPARED, evalEvery: 0, miEvery: 0, kernels: second.kernels!.choice });
  expect(named.hash).toBe(second.hash);
  const resumed = await open(readCheckpoint(structuredClone(first.checkpoint)));
  expect(resumed.policy.backend.kernels).toMatchObject({ choice: first.kernels?.choice, why: 'resumed' });
  resumed.dispose();
}, 600_000); // both sets are compiled, and one that is cut off goes on computing beside the tests after it
