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

/** 2¹¹²: what a half's bits, moved to where a float32's are, are to be multiplied by. */
const HALF_SCALE = 2 ** 112;
/** The largest half. */
const MOST = 65_504;
/** Bits of a float32's fraction that a half has not. */
const LOST_BITS = 13;
const SIGN = 0x8000;

/** Halves in the lower 16 bits of each lane, as float32; exact for finite ones, those below 2⁻¹⁴ too. */
export function widenHalves(f: Routine, halves: Vector): Vector {
  const bits = f.let(halves);
  const size = mul(shiftLeft(and(bits, splatInteger(SIGN - 1)), LOST_BITS), constant(HALF_SCALE));
  return or(size, shiftLeft(and(bits, splatInteger(SIGN)), 16));
}

/** Four float32 as halves, in the lower half of a vector: to the nearest, ties to even; at the ends of their range where they do not fit. */
export function narrowHalves(f: Routine, v: Vector): Vector {
  const whole = f.let(v);
  const size = f.let(mul(min(absolute(whole), constant(MOST)), constant(1 / HALF_SCALE)));
  const isOdd = and(shiftRight(size, LOST_BITS), splatInteger(1));
  const rounded = addIntegers(addIntegers(size, splatInteger(2 ** (LOST_BITS - 1) - 1)), isOdd);
  const sign = and(shiftRight(whole, 16), splatInteger(SIGN));
  const bits = f.let(or(shiftRight(rounded, LOST_BITS), sign));
  return narrowUnsigned(bits, bits);
}
