import type { KernelWork } from '../../domain/profile.ts';
import type { ModelConfig } from '../architecture.ts';
import type { Arithmetic } from './arithmetic.ts';
import type { Reach } from './attention.ts';
import { plainArithmetic } from './plainArithmetic.ts';
import type { Precision } from './real.ts';
import { simdArithmetic, type SimdOptions } from './simd.ts';

/** The fastest there is for the precision: with float32 WebAssembly SIMD over `bytes` of memory, unless `simd` is false. */
export function openArithmetic(
  model: ModelConfig,
  precision: Precision,
  bytes: number,
  simd: boolean,
  options: SimdOptions = {},
): Arithmetic {
  const fast = precision === 'f32' && simd ? simdArithmetic(model, bytes, options) : null;
  return fast ?? plainArithmetic(model, precision);
}

/** An arithmetic that times its kernels once it is told to. */
export interface TimedArithmetic {
  readonly arithmetic: Arithmetic;
  /** Counts from zero, by this clock. */
  readonly start: (now: () => number) => void;
  /** What each kernel did since `start`, those that did something. */
  readonly work: () => readonly KernelWork[];
}

type Cost = readonly [flops: number, numbers: number];

/** Wraps the kernels of an arithmetic; until `start` a call costs one test more. */
export function timedArithmetic(inner: Arithmetic): TimedArithmetic {
  const { model, precision } = inner;
  const [H, D] = [model.num_attention_heads, model.head_dim];
  const row = (H + 2 * model.num_key_value_heads) * D;
  const d = model.hidden_size;
  let clock: (() => number) | null = null;
  const all: { name: string; calls: number; flops: number; bytes: number; ms: number }[] = [];
  const timed = <A extends readonly unknown[]>(
    name: string,
    run: (...given: A) => void,
    cost: (...given: A) => Cost,
  ) => {
    const kernel = { name, calls: 0, flops: 0, bytes: 0, ms: 0 };
    all.push(kernel);
    return (...given: A) => {
      if (!clock) {
        run(...given);
        return;
      }
      const began = clock();
      run(...given);
      kernel.ms += clock() - began;
      const [flops, numbers] = cost(...given);
      kernel.calls++;
      kernel.flops += flops;
      kernel.bytes += numbers * (precision === 'f32' ? 4 : 8);
    };
  };
  const product = (_y: unknown, _x: unknown, _w: unknown, n: number, o: number, k: number): Cost => [
    2 * n * o * k,
    n * k + o * k + n * o,
  ];
  const seen = ({ counts }: Reach, n: number) => {
    let pairs = 0;
    for (let i = 0; i < n; i++) pairs += counts[i]!;
    return H * pairs;
  };
  const arithmetic: Arithmetic = {
    ...inner,
    matmulNT: timed('product x·wᵀ', inner.matmulNT, product),
    matmulNN: timed('product x·w', inner.matmulNN, product),
    matmulTN: timed('product xᵀ·w (weight gradients)', inner.matmulTN, product),
    attend: timed('attention', inner.attend, (...[, , , , , , reach, , n]) => [
      4 * D * seen(reach, n),
      2 * n * row + seen(reach, n),
    ]),
    attendBackward: timed('attention, backward', inner.attendBackward, (...[, , , , reach, , n]) => [
      10 * D * seen(reach, n),
      3 * n * row + seen(reach, n),
    ]),
    rmsNorm: timed('RMSNorm', inner.rmsNorm, (...[, , , , n]) => [4 * n * d, 2 * n * d]),
    rmsNormBackward: timed('RMSNorm, backward', inner.rmsNormBackward, (...[, , , , , , n]) => [8 * n * d, 3 * n * d]),
    normHeads: timed('RMSNorm of heads', inner.normHeads, (...[, , , n]) => [4 * n * row, 2 * n * row]),
    rotate: timed('rotary', inner.rotate, (...[, , , n]) => [3 * n * row, 2 * n * row]),
    swiglu: timed('SwiGLU', inner.swiglu, (...[, , , n, f]) => [4 * n * f, 4 * n * f]),
    swigluBackward: timed('SwiGLU, backward', inner.swigluBackward, (...[, , , , n, f]) => [10 * n * f, 6 * n * f]),
    addInto: timed('residual sum', inner.addInto, (...[, , , size]) => [size, 3 * size]),
  };
  return {
    arithmetic,
    start: (now) => {
      clock = now;
      for (const kernel of all) Object.assign(kernel, { calls: 0, flops: 0, bytes: 0, ms: 0 });
    },
    work: () => all.filter(({ calls }) => calls > 0).map((kernel) => ({ ...kernel, source: '' })),
  };
}
