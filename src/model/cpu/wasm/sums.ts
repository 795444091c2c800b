import {
  add,
  addIntegers,
  constant,
  max,
  min,
  mul,
  nearest,
  shiftLeft,
  shuffle,
  splatInteger,
  sub,
  truncate,
  type Local,
  type Vector,
} from './instructions.ts';
import type { Routine } from './routine.ts';

/** Sums the lanes of each of four vectors, as (v₀ + v₂) + (v₁ + v₃). Returns a vector of the four sums. */
export function sumsOfFour(f: Routine, [a, b, c, d]: readonly [Vector, Vector, Vector, Vector]): Local<'v128'> {
  const low = f.let(add(shuffle(a, b, [0, 4, 1, 5]), shuffle(a, b, [2, 6, 3, 7])));
  const high = f.let(add(shuffle(c, d, [0, 4, 1, 5]), shuffle(c, d, [2, 6, 3, 7])));
  return f.let(add(shuffle(low, high, [0, 1, 4, 5]), shuffle(low, high, [2, 3, 6, 7])));
}

/** Returns combine(combine(v₀, v₂), combine(v₁, v₃)) in every lane; changes v. */
export function combineLanes(f: Routine, v: Local<'v128'>, combine: typeof add): Local<'v128'> {
  f.set(v, combine(v, shuffle(v, v, [2, 3, 0, 1])));
  return f.let(combine(v, shuffle(v, v, [1, 0, 3, 2])));
}

const LOG2_E = 1.4426950408889634;
// ln 2 in two parts. LN2_HIGH ends with zero bits, so that k·LN2_HIGH is exact
const LN2_HIGH = 0.693359375;
const LN2_LOW = -2.1219444e-4;
// (e^r − 1 − r)/r² on [−ln2/2, ln2/2] (Moshier, Cephes `expf`)
const POLYNOMIAL = [
  1.98756915e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1,
] as const;
/** x is limited to ±87, so that the powers of two in `exponential` stay normal numbers. */
const MAX_EXPONENT = 87;

/** Error up to 2 units in the last place for x in [−87, 87]; NaN stays NaN. With k = round(x/ln 2), e^x = 2^k·e^(x − k·ln 2). */
export function exponential(f: Routine, x: Vector): Local<'v128'> {
  const bounded = f.let(max(min(x, constant(MAX_EXPONENT)), constant(-MAX_EXPONENT)));
  const k = f.let(nearest(mul(bounded, constant(LOG2_E))));
  const r = f.let(sub(sub(bounded, mul(k, constant(LN2_HIGH))), mul(k, constant(LN2_LOW))));
  const p = POLYNOMIAL.map(constant).reduce((sum, c) => add(mul(sum, r), c));
  const expOfR = add(add(mul(mul(p, r), r), r), constant(1));
  // the bits of 2^k: the exponent field holds k + 127
  const power = shiftLeft(addIntegers(truncate(k), splatInteger(127)), 23);
  return f.let(mul(expOfR, power));
}
