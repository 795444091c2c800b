import type { Gpu } from '../../gpu/device.ts';
import * as kernels from '../../gpu/kernels/index.ts';
import type { Scalar } from '../../gpu/tensor.ts';
import { findChoice, nameOfChoice, type KernelReport, type TriedVariant } from '../../config/kernelChoice.ts';
import type { PolicySpec } from '../policy.ts';
import { runs } from './kernelSets.ts';

/** A choice as it is kept. */
interface TuningRecord {
  readonly choice: string;
  readonly tried: readonly TriedVariant[];
}

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

/** The sentence by which records named what time ran out on, before a tuning went on: it waits. */
const RAN_OUT = 'There was no time left to measure it.';

/** A report in the form in which it is kept. */
export function recordOf({ choice, tried }: Pick<KernelReport, 'choice' | 'tried'>): TuningRecord {
  return { choice: nameOfChoice(choice), tried };
}

/** Reads what `recordOf` made, as it lies there: anybody may have touched it. Null for anything this adapter cannot take. */
export function readTuning(kept: unknown, gpu: Pick<Gpu, 'lanes'>): KernelReport | null {
  const { choice: name, tried } = (kept ?? {}) as Partial<Readonly<Record<keyof TuningRecord, unknown>>>;
  if (typeof name !== 'string' || !Array.isArray(tried) || !tried.every(isTried)) return null;
  const choice = findChoice(name);
  return choice && runs(gpu, choice) ? { choice, why: 'measured', tried: tried.map(rowOf) } : null;
}

/** A row as it was kept, by this version or by one that knew of no waiting. */
type KeptRow = Omit<TriedVariant, 'waits'> & Partial<Pick<TriedVariant, 'waits'>>;

function rowOf(row: KeptRow): TriedVariant {
  const { waits = null } = row;
  return row.refused === RAN_OUT ? { ...row, ms: null, error: null, refused: '', waits: 0 } : { ...row, waits };
}

function isTried(value: unknown): value is KeptRow {
  const { family, variant, ms, error, refused, taken, waits } = (value ?? {}) as Partial<
    Record<keyof TriedVariant, unknown>
  >;
  const numeric = [ms, error, waits ?? null].every((n) => n === null || typeof n === 'number');
  return numeric && [family, variant, refused].every((t) => typeof t === 'string') && typeof taken === 'boolean';
}
