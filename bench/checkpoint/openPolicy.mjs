// Opens a checkpoint and the policy that learns adapters beside it.
import { diskSource } from '../../src/cli/diskSource.ts';
import { openBase } from '../../src/speaking/openBase.ts';
import { openCpuAdaptedPolicy } from '../../src/model/cpu/adapters/policy.ts';
import { openGpuAdaptedPolicy } from '../../src/model/gpu/adapters/policy.ts';
import { learningMath } from '../../src/rl/learningMath.ts';
import { openDawn } from '../../tools/dawn.ts';
import { ADAPTERS } from './batch.mjs';

/** @param {string} file */
export async function openFile(file) {
  const source = diskSource(file);
  if (!source) throw new Error(`bench: ${file} is not there.`);
  return openBase('model.gguf', [{ path: 'model.gguf', source }]);
}

/**
 * What such a run asks a backend to hold.
 * @param {import('../../src/checkpoints/base.ts').BaseCheckpoint} base @param {number} rows @param {number} length
 * @returns {import('../../src/model/policy.ts').PolicySpec}
 */
export const specOf = ({ model }, rows, length) => ({
  ...{ model: { ...model, value_head: false }, critic: 'none', rows, length, minibatchRows: rows },
});

/**
 * @param {import('../../src/checkpoints/base.ts').BaseCheckpoint} base @param {import('../../src/model/policy.ts').PolicySpec} spec
 * @param {{ engine: string, share: boolean, threads: number, mostTokens?: number, keptTokens?: number }} options
 *   threads: for trees that have them; what has none reads none
 */
export async function openPolicy(base, spec, { engine, share, threads, mostTokens, keptTokens }) {
  const options = {
    seed: 1,
    reason: '',
    ...(mostTokens && { mostTokens }),
    ...(keptTokens !== undefined && { keptTokens }),
  };
  if (engine === 'cpu') {
    return openCpuAdaptedPolicy(spec, base.weights, ADAPTERS, learningMath, { ...options, share, ...{ threads } });
  }
  const gpu = await openDawn();
  if (!gpu) throw new Error('bench: Dawn does not load here; leave gpu out of --slots.');
  return openGpuAdaptedPolicy(gpu, spec, base.weights, ADAPTERS, learningMath, options);
}
