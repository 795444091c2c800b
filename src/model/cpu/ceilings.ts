import type { Ceilings } from '../../domain/profile.ts';
import type { ModelConfig } from '../architecture.ts';
import type { Precision } from './real.ts';
import type { SimdOptions } from './simd.ts';
import { openArithmetic } from './timed.ts';

const EDGE = 256; // of the product
const COPY = 2 ** 22; // numbers
const ROUNDS = 5;

/** What the CPU can do at best here, by the backend's own product, in so many threads, and by a copy, which is one thread's. */
export async function cpuCeilings(
  model: ModelConfig,
  precision: Precision,
  simd: boolean,
  now: () => number,
  options: SimdOptions = {},
): Promise<Ceilings> {
  const arithmetic = openArithmetic(model, precision, 3 * EDGE * EDGE * 8, simd, options);
  await arithmetic.team?.begun();
  const [x, w, y] = [arithmetic.reals(EDGE * EDGE), arithmetic.reals(EDGE * EDGE), arithmetic.reals(EDGE * EDGE)];
  const least = (run: () => void) => {
    let best = Infinity;
    for (let round = 0; round <= ROUNDS; round++) {
      const began = now();
      for (let i = 0; i < 4; i++) run(); // a browser's clock is coarse
      if (round > 0) best = Math.min(best, now() - began); // the first warms up
    }
    return best / 4;
  };
  const productMs = least(() => arithmetic.matmulNT(y, x, w, EDGE, EDGE, EDGE));
  arithmetic.team?.close();
  const [from, to] = [new Float32Array(COPY).fill(1), new Float32Array(COPY)];
  const copyMs = least(() => to.set(from));
  return {
    gflops: (2 * EDGE ** 3) / productMs / 1e6,
    gbps: (8 * COPY) / copyMs / 1e6,
    launchUs: 0,
    readbackUs: 0,
  };
}
