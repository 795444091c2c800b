import {
  absolute,
  addIntegers,
  and,
  constant,
  min,
  mul,
  narrowUnsigned,
  or,
  shiftLeft,
  shiftRight,
  splatInteger,
  type Vector,
} from './instructions.ts';
import type { Routine } from './routine.ts';

/** A float16 whose exponent and fraction are put where a float32 has its own is too small by this factor, 2¹¹². */
const FLOAT16_SCALE = 2 ** 112;
/** The largest finite float16. */
const MAX_FLOAT16 = 65_504;
/** Number of fraction bits that a float32 has and a float16 hasn't. */
const LOST_BITS = 13;
const SIGN_BIT = 0x8000;

/** Converts the float16 in the lower 16 bits of each lane to float32. Exact for all finite numbers, also below 2⁻¹⁴. */
export function widenFloat16(f: Routine, float16: Vector): Vector {
  const bits = f.let(float16);
  const size = mul(shiftLeft(and(bits, splatInteger(SIGN_BIT - 1)), LOST_BITS), constant(FLOAT16_SCALE));
  return or(size, shiftLeft(and(bits, splatInteger(SIGN_BIT)), 16));
}

/** Four float32 to the lower 64 bits of a vector, rounded to nearest, ties to even. Beyond the range they become ±65,504. */
export function narrowToFloat16(f: Routine, v: Vector): Vector {
  const numbers = f.let(v);
  const size = f.let(mul(min(absolute(numbers), constant(MAX_FLOAT16)), constant(1 / FLOAT16_SCALE)));
  const isOdd = and(shiftRight(size, LOST_BITS), splatInteger(1));
  const rounded = addIntegers(addIntegers(size, splatInteger(2 ** (LOST_BITS - 1) - 1)), isOdd);
  const sign = and(shiftRight(numbers, 16), splatInteger(SIGN_BIT));
  const bits = f.let(or(shiftRight(rounded, LOST_BITS), sign));
  return narrowUnsigned(bits, bits);
}
