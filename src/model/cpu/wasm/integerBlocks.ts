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
import { widenHalves } from './halves.ts';

/** Weights of a block, and activations with one scale. */
export const BLOCK = 32;

/** Scales of the blocks at four addresses, and what is added to each weight, or null; each a lane of one vector. */
type Scales = (f: Routine, at: readonly Integer[]) => { readonly scale: Vector; readonly least: Vector | null };

const lanesOf = (bits: 16 | 32, at: readonly Integer[]) =>
  at.reduce<Vector>((v, from, i) => loadLane(bits, from, v, bits === 16 ? 2 * i : i), constant(0));

/** A half at the start of each block. */
const oneHalf: Scales = (f, at) => ({ scale: f.let(widenHalves(f, lanesOf(16, at))), least: null });

/** How formats of 32 whole numbers and a scale give the numbers of a block as four vectors of eight int16, in order. */
export const INTEGERS = {
  Q4_0: {
    bytes: 18,
    adds: true, // something to each weight
    scales: ((f, at) => {
      const scale = f.let(widenHalves(f, lanesOf(16, at)));
      return { scale, least: mul(scale, constant(-8)) };
    }) as Scales,
    eights: (f: Routine, at: Integer) => nibbles(f, at, 2),
  },
  Q4_1: {
    bytes: 20,
    adds: true,
    scales: ((f, at) => {
      const words = f.let(lanesOf(32, at));
      const scale = f.let(widenHalves(f, and(words, splatInteger(0xffff))));
      return { scale, least: widenHalves(f, shiftRight(words, 16)) };
    }) as Scales,
    eights: (f: Routine, at: Integer) => nibbles(f, at, 4),
  },
  Q8_0: {
    bytes: 34,
    adds: false,
    scales: oneHalf,
    eights: (_: Routine, at: Integer) => [2, 10, 18, 26].map((offset) => loadBytes(at, offset)),
  },
} as const;

/** 32 numbers of four bits: the low halves of sixteen bytes, then the high ones. */
function nibbles(f: Routine, at: Integer, offset: number): Vector[] {
  const [a, b] = [f.let(loadUnsignedBytes(at, offset)), f.let(loadUnsignedBytes(at, offset + 8))];
  const mask = splatInteger(0x000f_000f);
  return [and(a, mask), and(b, mask), shiftPairsRight(a, 4), shiftPairsRight(b, 4)];
}

/** Their names. */
export type IntegerFormat = keyof typeof INTEGERS;
