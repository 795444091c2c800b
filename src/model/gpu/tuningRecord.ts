import type { Gpu } from '../../gpu/device.ts';
import * as kernels from '../../gpu/kernels/index.ts';
import type { Scalar } from '../../gpu/tensor.ts';
import { KERNEL_SET_NAMES, type KernelReport, type TriedSet } from '../../config/kernelChoice.ts';
import type { PolicySpec } from '../policy.ts';
import type { Tuned } from './tuner.ts';

/**
 * What a tuning is kept under: adapter, browser, the kernels' own text, how they store, and the class of shapes, in which row length
 * and batch are rounded up to powers of two. Any other of them may want other kernels.
 */
export function tuningKey(
  gpu: Pick<Gpu, 'identity'>,
  { model: m, length, minibatchRows }: PolicySpec,
  storage: Scalar,
  browser: string,
): string {
  const upTo = (n: number) => 2 ** Math.ceil(Math.log2(n));
  const shape = [
    ...[m.hidden_size, m.intermediate_size, m.num_attention_heads, m.num_key_value_heads, m.head_dim],
    ...[m.vocab_size, upTo(length), upTo(minibatchRows * length)],
    ...[m.attention_bias, m.tie_word_embeddings, m.value_head],
  ];
  return [gpu.identity, browser, sourcesHash(), storage, shape.join(' ')].join('\n');
}

/** FNV-1a over all kernels' text: another engine is another hash. */
function sourcesHash(): string {
  let hash = 0x811c9dc5;
  for (const kernel of Object.values(kernels)) {
    for (let i = 0; i < kernel.wgsl.length; i++) hash = Math.imul(hash ^ kernel.wgsl.charCodeAt(i), 0x01000193);
  }
  return (hash >>> 0).toString(16);
}

/** Reads what a tuning found, as it lies there: anybody may have touched it. Null for anything else. */
export function readTuning(kept: unknown): KernelReport | null {
  const { choice: name, tried } = (kept ?? {}) as Partial<Readonly<Record<keyof Tuned, unknown>>>;
  if (!Array.isArray(tried) || !tried.every(isTried)) return null;
  const choice = KERNEL_SET_NAMES.find((set) => set === name);
  return choice ? { choice, why: 'measured', tried } : null;
}

function isTried(value: unknown): value is TriedSet {
  const { set, ms, error, refused, taken } = (value ?? {}) as Partial<Record<keyof TriedSet, unknown>>;
  const numeric = [ms, error].every((n) => n === null || typeof n === 'number');
  return numeric && [set, refused].every((t) => typeof t === 'string') && typeof taken === 'boolean';
}
