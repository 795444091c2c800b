import type { Ceilings } from '../../domain/profile.ts';
import type { ModelConfig } from '../architecture.ts';
import type { ReferenceLoops } from './arithmetic.ts';
import type { SimdOptions } from './simd.ts';
import { openArithmetic } from './timedArithmetic.ts';

const MATRIX_SIZE = 256; // rows and columns of the matrices that are multiplied
const COPIED_NUMBERS = 2 ** 22;
const ROUNDS = 5;

/** Matrix products with the backend's own kernel and threads; copying in one thread. */
export async function cpuCeilings(
  model: ModelConfig,
  loops: ReferenceLoops | undefined,
  now: () => number,
  options: SimdOptions = {},
): Promise<Ceilings> {
  const arithmetic = openArithmetic(model, 3 * MATRIX_SIZE * MATRIX_SIZE * 8, loops, options);
  await arithmetic.team?.whenStarted();
  const [x, w, y] = [
    arithmetic.reals(MATRIX_SIZE * MATRIX_SIZE),
    arithmetic.reals(MATRIX_SIZE * MATRIX_SIZE),
    arithmetic.reals(MATRIX_SIZE * MATRIX_SIZE),
  ];
  const shortestMs = (call: () => void) => {
    let bestMs = Infinity;
    for (let round = 0; round <= ROUNDS; round++) {
      const startTime = now();
      for (let i = 0; i < 4; i++) call(); // a browser's clock is coarse
      if (round > 0) bestMs = Math.min(bestMs, now() - startTime); // round 0 only warms up
    }
    return bestMs / 4;
  };
  const productMs = shortestMs(() => arithmetic.matmulNT(y, x, w, MATRIX_SIZE, MATRIX_SIZE, MATRIX_SIZE));
  arithmetic.team?.close();
  const [source, target] = [new Float32Array(COPIED_NUMBERS).fill(1), new Float32Array(COPIED_NUMBERS)];
  const copyMs = shortestMs(() => target.set(source));
  return {
    gflops: (2 * MATRIX_SIZE ** 3) / productMs / 1e6,
    gbps: (8 * COPIED_NUMBERS) / copyMs / 1e6,
    launchUs: 0,
    readbackUs: 0,
  };
}
