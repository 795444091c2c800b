// Opens a checkpoint and the policy that learns adapters beside it.
import { diskSource } from '../../src/cli/files.ts';
import { openBase } from '../../src/speaking/textCheckpoint.ts';
import { openCpuAdaptedPolicy } from '../../src/model/cpu/adapters/cpuAdaptedPolicy.ts';
import { openGpuAdaptedPolicy } from '../../src/model/gpu/adapters/openGpuAdaptedPolicy.ts';
import { learningMath } from '../../src/rl/plainLearningMath.ts';
import { openDawn } from '../../tools/dawn.ts';
import { ADAPTERS } from './batch.mjs';
import { threaded } from './trees.mjs';

/** @param {string} file */
export async function openFile(file) {
  const source = diskSource(file);
  if (!source) throw new Error(`bench: ${file} is not there.`);
  return openBase('model.gguf', [{ path: 'model.gguf', source }]);
}

/**
 * What such a run asks a backend to hold.
 * @param {import('../../src/checkpoints/baseCheckpoint.ts').BaseCheckpoint} base @param {number} rows @param {number} length
 * @returns {import('../../src/model/policy.ts').PolicySpec}
 */
export const specOf = ({ model }, rows, length) => ({
  ...{ model: { ...model, value_head: false }, critic: 'none', rows, length, minibatchRows: rows },
});

/**
 * @param {import('../../src/checkpoints/baseCheckpoint.ts').BaseCheckpoint} base @param {import('../../src/model/policy.ts').PolicySpec} spec
 * @param {{ engine: string, share: boolean, threads: number, mostBytes?: number }} options mostBytes: for trees that can make do with less
 */
export async function openPolicy(base, spec, { engine, share, threads, mostBytes }) {
  const options = { seed: 1, reason: '' };
  if (engine === 'cpu') {
    const own = { ...options, share, ...threaded(threads), ...(mostBytes && { maxBytes: mostBytes }) };
    return openCpuAdaptedPolicy(spec, base.weights, ADAPTERS, learningMath, own);
  }
  const gpu = await openDawn();
  if (!gpu) throw new Error('bench: Dawn does not load here; leave gpu out of --slots.');
  return openGpuAdaptedPolicy(gpu, spec, base.weights, ADAPTERS, learningMath, options);
}
