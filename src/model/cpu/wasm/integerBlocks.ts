import {
  mul,
  and,
  shiftRight,
  shiftPairsRight,
  constant,
  splatInteger,
  loadBytes,
  loadUnsignedBytes,
  loadLane,
  type Vector,
  type Integer,
} from './instructions.ts';
import type { Routine } from './routine.ts';
import { widenFloat16 } from './float16Kernels.ts';

/** Number of weights in a block, and number of activations that share a scale. */
export const BLOCK_SIZE = 32;

/**
 * Loads the scales of the blocks at four addresses into the lanes of a vector. `least` holds the number that is added
 * to each weight of a block (the weight that the integer 0 stands for), or is null if the format adds nothing.
 */
type LoadScales = (f: Routine, at: readonly Integer[]) => { readonly scale: Vector; readonly least: Vector | null };

/** Loads the numbers at the addresses `at` into the lanes of a vector; those of 16 bits into the lower half of a lane. */
const loadLanes = (bits: 16 | 32, at: readonly Integer[]) =>
  at.reduce<Vector>((v, address, i) => loadLane(bits, address, v, bits === 16 ? 2 * i : i), constant(0));

/** Scales of blocks that begin with a float16 scale. */
const loadFloat16Scale: LoadScales = (f, at) => ({ scale: f.let(widenFloat16(f, loadLanes(16, at))), least: null });

/** Blocks of 32 integers and a scale. `loadIntegers` loads the integers of a block in order, as four vectors of eight int16. */
export const INTEGER_BLOCKS = {
  Q4_0: {
    bytes: 18,
    hasAddend: true, // whether a number is added to each weight
    scales: ((f, at) => {
      const scale = f.let(widenFloat16(f, loadLanes(16, at)));
      return { scale, least: mul(scale, constant(-8)) };
    }) as LoadScales,
    loadIntegers: (f: Routine, at: Integer) => loadNibbles(f, at, 2),
  },
  Q4_1: {
    bytes: 20,
    hasAddend: true,
    scales: ((f, at) => {
      const words = f.let(loadLanes(32, at));
      const scale = f.let(widenFloat16(f, and(words, splatInteger(0xffff))));
      return { scale, least: widenFloat16(f, shiftRight(words, 16)) };
    }) as LoadScales,
    loadIntegers: (f: Routine, at: Integer) => loadNibbles(f, at, 4),
  },
  Q8_0: {
    bytes: 34,
    hasAddend: false,
    scales: loadFloat16Scale,
    loadIntegers: (_: Routine, at: Integer) => [2, 10, 18, 26].map((offset) => loadBytes(at, offset)),
  },
} as const;

/** Loads 32 integers of four bits: the lower halves of sixteen bytes, then their upper halves. */
function loadNibbles(f: Routine, at: Integer, offset: number): Vector[] {
  const [a, b] = [f.let(loadUnsignedBytes(at, offset)), f.let(loadUnsignedBytes(at, offset + 8))];
  const mask = splatInteger(0x000f_000f);
  return [and(a, mask), and(b, mask), shiftPairsRight(a, 4), shiftPairsRight(b, 4)];
}

export type IntegerFormat = keyof typeof INTEGER_BLOCKS;
