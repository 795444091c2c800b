import type { KernelWork } from '../../domain/profile.ts';
import type { ModelConfig } from '../architecture.ts';
import { BackendError } from '../policy.ts';
import type { Arithmetic, ReferenceLoops } from './arithmetic.ts';
import type { VisibleKeys } from '../attentionShape.ts';
import { simdArithmetic, type SimdOptions } from './simd.ts';
import { runInOrder } from './team/team.ts';
import { oneThread } from './team/threads.ts';

/** WebAssembly SIMD with `bytes` of memory, unless there are loops in its place. Throws BackendError without either. */
export function openArithmetic(
  model: ModelConfig,
  bytes: number,
  loops: ReferenceLoops | undefined,
  options: SimdOptions = {},
): Arithmetic {
  // not every system that has the memory can also share it
  const alone = { ...options, threads: oneThread('no shared memory of that size') };
  const arithmetic = loops
    ? loops.make(model)
    : (simdArithmetic(model, bytes, options) ?? simdArithmetic(model, bytes, alone));
  if (arithmetic) return arithmetic;
  throw new BackendError(
    `There is no WebAssembly SIMD here, or not ${Math.ceil(bytes / 2 ** 20)} MiB of memory for it.`,
    'Use a browser that has it, a smaller model, fewer rows or shorter texts.',
  );
}

export interface TimedArithmetic {
  readonly arithmetic: Arithmetic;
  /** Starts timing with this clock, in milliseconds. All counts begin at zero. */
  readonly start: (now: () => number) => void;
  /** Returns calls, work and time since `start`, for each kernel that was called. */
  readonly work: () => readonly KernelWork[];
}

type Cost = readonly [flops: number, numbers: number];

/** Wraps the kernels of an arithmetic so that they can be timed. Before `start`, a call costs only one extra test. */
export function timedArithmetic(inner: Arithmetic): TimedArithmetic {
  const { model, precision } = inner;
  const [H, D] = [model.num_attention_heads, model.head_dim];
  const row = (H + 2 * model.num_key_value_heads) * D;
  const d = model.hidden_size;
  let clock: (() => number) | null = null;
  const kernels: { name: string; calls: number; flops: number; bytes: number; ms: number }[] = [];
  const timeKernel = <A extends readonly unknown[]>(
    name: string,
    run: (...parameters: A) => void,
    cost: (...parameters: A) => Cost,
  ) => {
    const kernel = { name, calls: 0, flops: 0, bytes: 0, ms: 0 };
    kernels.push(kernel);
    return (...parameters: A) => {
      if (!clock) {
        run(...parameters);
        return;
      }
      const startTime = clock();
      run(...parameters);
      kernel.ms += clock() - startTime;
      const [flops, numbers] = cost(...parameters);
      kernel.calls++;
      kernel.flops += flops;
      kernel.bytes += numbers * (precision === 'f32' ? 4 : 8);
    };
  };
  const product = (_y: unknown, _x: unknown, _w: unknown, n: number, o: number, k: number): Cost => [
    2 * n * o * k,
    n * k + o * k + n * o,
  ];
  const scoreCount = ({ counts }: VisibleKeys, n: number) => {
    let pairs = 0;
    for (let i = 0; i < n; i++) pairs += counts[i]!;
    return H * pairs;
  };
  const arithmetic: Arithmetic = {
    ...inner,
    matmulNT: timeKernel('product x·wᵀ', inner.matmulNT, product),
    matmulNN: timeKernel('product x·w', inner.matmulNN, product),
    matmulTN: timeKernel('product xᵀ·w (weight gradients)', inner.matmulTN, product),
    attend: timeKernel('attention', inner.attend, (...[, , , , , , visibleKeys, , n]) => [
      4 * D * scoreCount(visibleKeys, n),
      2 * n * row + scoreCount(visibleKeys, n),
    ]),
    attendBackward: timeKernel('attention, backward', inner.attendBackward, (...[, , , , visibleKeys, , n]) => [
      10 * D * scoreCount(visibleKeys, n),
      3 * n * row + scoreCount(visibleKeys, n),
    ]),
    rmsNorm: timeKernel('RMSNorm', inner.rmsNorm, (...[, , , , n]) => [4 * n * d, 2 * n * d]),
    rmsNormBackward: timeKernel('RMSNorm, backward', inner.rmsNormBackward, (...[, , , , , , n]) => [
      8 * n * d,
      3 * n * d,
    ]),
    normHeads: timeKernel('RMSNorm of heads', inner.normHeads, (...[, , , n]) => [4 * n * row, 2 * n * row]),
    rotate: timeKernel('rotary', inner.rotate, (...[, , , n]) => [3 * n * row, 2 * n * row]),
    swiglu: timeKernel('SwiGLU', inner.swiglu, (...[, , , n, f]) => [4 * n * f, 4 * n * f]),
    swigluBackward: timeKernel('SwiGLU, backward', inner.swigluBackward, (...[, , , , n, f]) => [
      10 * n * f,
      6 * n * f,
    ]),
    // calls that are recorded for other threads can't be timed
    runPass: (parts) => (clock ? runInOrder(parts) : inner.runPass(parts)),
    addInto: timeKernel('residual sum', inner.addInto, (...[, , , size]) => [size, 3 * size]),
  };
  return {
    arithmetic,
    start: (now) => {
      clock = now;
      for (const kernel of kernels) Object.assign(kernel, { calls: 0, flops: 0, bytes: 0, ms: 0 });
    },
    work: () => kernels.filter(({ calls }) => calls > 0).map((kernel) => ({ ...kernel, source: '' })),
  };
}
