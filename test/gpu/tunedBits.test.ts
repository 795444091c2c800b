import { expect, test } from 'vitest';
import { readCheckpoint, type Checkpoint } from '../../src/runs/checkpoint.ts';
import { parseConfig } from '../../src/config/config.ts';
import { openGpuPolicy } from '../../src/model/gpuPolicy.ts';
import { learningMath } from '../../src/rl/plainLearningMath.ts';
import type { Host } from '../../src/session/host.ts';
import { openSession } from '../../src/session/session.ts';
import { BackgroundTuning } from '../../src/session/tuning.ts';
import { host } from './host.ts';
import { TINY, train } from './tinyRun.ts';

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
    return openSession(config, tuned, () => undefined, { resumedFrom: from });
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
