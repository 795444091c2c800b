import { fnvOfText, FNV_START } from '../../base/checksum.ts';
import type { Gpu } from '../../gpu/device.ts';
import * as kernels from '../../gpu/kernels/index.ts';
import type { ScalarType } from '../../gpu/tensor.ts';
import { KERNEL_SET_NAMES, type KernelReport, type MeasuredKernelSet } from '../../config/kernelChoice.ts';
import type { PolicySpec } from '../policy.ts';
import type { TuningResult } from './tuner.ts';

/**
 * The key under which a tuning is stored: adapter, browser, kernel sources, storage type, and the model's sizes and
 * switches (biases, tied embeddings, value head), but not its number of layers. Row length and tokens per minibatch are
 * rounded up to powers of two. If any of these changes, another kernel set may be faster.
 */
export function tuningKey(
  gpu: Pick<Gpu, 'identity'>,
  { model: m, length, minibatchRows }: PolicySpec,
  storage: ScalarType,
  browser: string,
): string {
  const nextPowerOf2 = (n: number) => 2 ** Math.ceil(Math.log2(n));
  const shape = [
    ...[m.hidden_size, m.intermediate_size, m.num_attention_heads, m.num_key_value_heads, m.head_dim],
    ...[m.vocab_size, nextPowerOf2(length), nextPowerOf2(minibatchRows * length)],
    ...[m.attention_bias, m.tie_word_embeddings, m.value_head],
  ];
  return [gpu.identity, browser, sourcesHash(), storage, shape.join(' ')].join('\n');
}

/** FNV-1a hash over the text of all kernels, so that changed kernels are tuned again. */
function sourcesHash(): string {
  const hash = Object.values(kernels).reduce((h, { wgsl }) => fnvOfText(wgsl, h), FNV_START);
  return (hash >>> 0).toString(16);
}

/** Reads a stored tuning. Checks it, because anyone may have changed it; null if it is not a tuning. */
export function readTuning(stored: unknown): KernelReport | null {
  const { choice: name, tried } = (stored ?? {}) as Partial<Readonly<Record<keyof TuningResult, unknown>>>;
  if (!Array.isArray(tried) || !tried.every(isTried)) return null;
  const choice = KERNEL_SET_NAMES.find((set) => set === name);
  return choice ? { choice, why: 'measured', tried } : null;
}

function isTried(value: unknown): value is MeasuredKernelSet {
  const { set, ms, error, refused, taken } = (value ?? {}) as Partial<Record<keyof MeasuredKernelSet, unknown>>;
  const numeric = [ms, error].every((n) => n === null || typeof n === 'number');
  return numeric && [set, refused].every((t) => typeof t === 'string') && typeof taken === 'boolean';
}
