import { expect, test } from 'vitest';
import { parseConfig } from '../../src/config.ts';
import type { Metrics } from '../../src/metrics.ts';
import { openGpuPolicy } from '../../src/model/gpuPolicy.ts';
import { openSession, type Host } from '../../src/session.ts';

const host: Host = {
  gpu: navigator.gpu,
  openGpuPolicy,
  shippedWeights: () => Promise.resolve(null),
  now: () => performance.now(),
  breathe: () => Promise.resolve(),
};
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

test('the same seed twice, and any decode chunk, give identical weights after ten updates; another seed does not', async () => {
  const first = await train({});
  expect(first.metrics.length).toBe(11);
  expect((await train({})).hash).toBe(first.hash);
  expect((await train({ decodeChunk: 1 })).hash).toBe(first.hash);
  expect((await train({ decodeChunk: 64 })).hash).toBe(first.hash);
  expect((await train({ seed: 6 })).hash).not.toBe(first.hash);
});

test('an update awaits one read-back per decode chunk and one more, submits little and creates nothing', async () => {
  const { metrics } = await train({ decodeChunk: 64, updates: 4, evalEvery: 0 });
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
