// How a training step grows: every size of a base doubled twice, all in one process, steps of all of them in turns. Prints
// JSON. Run by run.mjs, in a process of its own, as CPU time is that of the process: other work on the machine lengthens it
// less than the clock.
import { openDawn } from '../tools/dawn.ts';
import { setup } from './peer.mjs';
import { accounting, batch } from './workloads.mjs';

/** @typedef {import('./peer.mjs').Workload} Workload */

/** @type {Workload} */
const BASE = { V: 128, C: 64, L: 2, H: 4, T: 64, B: 16, F: 256, lr: 1e-3 };
const TIMES = [1, 2, 4];

/** The base with one size grown: heads and MLPs grow with the width. @param {'B' | 'T' | 'C' | 'L' | 'V'} size @param {number} times */
function grown(size, times) {
  const c = { ...BASE, [size]: BASE[size] * times };
  return size === 'C' ? { ...c, H: BASE.H * times, F: BASE.F * times } : c;
}

const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
/** @param {readonly number[]} ms */
const summary = (ms) => ({
  median: ms.toSorted((a, b) => a - b)[Math.floor(ms.length / 2)] ?? NaN,
  best: Math.min(...ms),
});

/** @param {GPU} gpu @param {{ seconds: number, variant?: string, storage?: 'f32' | 'f16' }} options */
async function scaling(gpu, { seconds, variant, storage }) {
  const chosen = { ...(variant ? { variant } : {}), ...(storage ? { storage } : {}) };
  const sizes = /** @type {const} */ (['B', 'T', 'C', 'L', 'V']);
  const cases = sizes.flatMap((size) => TIMES.map((times) => ({ size, times, workload: grown(size, times) })));
  /** @type {Map<string, { peer: Awaited<ReturnType<typeof setup>>, ms: number[], cpu: number[] }>} */
  const runs = new Map(); // the base is one run for all sizes
  for (const { workload } of cases) {
    const key = JSON.stringify(workload);
    if (runs.has(key)) continue;
    const peer = await setup(workload, { ...batch(workload), want: 'train', gpu, options: chosen });
    await peer.step({ read: true });
    runs.set(key, { peer, ms: [], cpu: [] });
  }
  const end = performance.now() + seconds * 1000 * TIMES.length * sizes.length;
  do {
    for (const { peer, ms, cpu } of runs.values()) {
      const [start, cpuStart] = [performance.now(), cpuMs()];
      await peer.step({ read: true });
      cpu.push(cpuMs() - cpuStart);
      ms.push(performance.now() - start);
    }
  } while (performance.now() < end);
  return cases.map(({ size, times, workload }) => {
    const { ms, cpu } = runs.get(JSON.stringify(workload)) ?? { ms: [], cpu: [] };
    const clock = summary(ms);
    return {
      ...{ size, times, value: workload[size], n: ms.length, flops: accounting(workload).flops },
      ...{ ms: clock.median, bestMs: clock.best, cpuMs: summary(cpu).median, bestCpuMs: summary(cpu).best },
    };
  });
}

const gpu = await openDawn();
if (!gpu) throw new Error('bench: Dawn does not load here, and CPU time is measured in Node only.');
console.log(JSON.stringify(await scaling(gpu, JSON.parse(process.argv[2] ?? '{}'))));
process.exit(0); // Dawn keeps the process alive
