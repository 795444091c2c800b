import { Purpose, random } from '../base/rng.ts';

/** Steps of float32 arithmetic that a table made in it may be off: 16 times its unit roundoff of 6e-8. */
export const FLOAT32_ERROR = 1e-6;

/** Digits after the point in a number as JSON writes it. */
function decimals(x: number): number {
  const [digits = '', exponent = '0'] = String(x).split('e');
  return Math.max(0, (digits.split('.')[1]?.length ?? 0) - Number(exponent));
}

/** Most digits after the point among all numbers in a JSON value: what its writer rounded to. */
export function mostDecimals(value: unknown): number {
  if (typeof value === 'number') return decimals(value);
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce<number>((most, inner) => Math.max(most, mostDecimals(inner)), 0);
}

/** How a file's numbers were rounded when it was written. */
export interface Rounding {
  readonly places: number; // digits after the point
}

/** Half a unit of the last place where a number has all of them; one with fewer digits is taken to be exact. */
function halfUnit(x: number, { places }: Rounding): number {
  return decimals(x) >= places - 1 ? 0.5 * 10 ** -places : 0;
}

/** The most that the rounding of `goal` can move ‖got − goal‖ / ‖goal‖. */
export function roundingError(goal: readonly number[], rounding: Rounding): number {
  const size = Math.hypot(...goal);
  return Math.hypot(...goal.map((x) => halfUnit(x, rounding))) / (size > 0 ? size : 1);
}

/** The numbers, each moved up or down by what rounding may have taken from it; `draw` picks another set of signs. */
export function jittered(numbers: readonly number[], rounding: Rounding, draw: number): number[] {
  const sign = random(41 + draw, Purpose.shuffle);
  return numbers.map((x) => x + (sign.next() < 0.5 ? -1 : 1) * halfUnit(x, rounding));
}

/**
 * Whether a table was made in float32: every number with all its digits is a float32, up to the rounding. Chance does that
 * to one float64 in fifty, so a few numbers tell; fewer than three do not.
 */
export function isFloat32(table: readonly number[], rounding: Rounding): boolean {
  const unit = 10 ** -rounding.places;
  // a short number is the same in both, and where float32 is finer than the digits printed a number says nothing
  const telling = table.filter((x) => significant(x) > 6 && Math.abs(x) * 2 ** -24 > 10 * unit);
  return (
    telling.length >= 3 && telling.every((x) => Math.abs(x - Math.fround(x)) <= 0.51 * unit + Math.abs(x) * 2 ** -52)
  );
}

/** Significant digits of a number as JSON writes it. */
function significant(x: number): number {
  return (String(x).split('e')[0] ?? '').replace(/[-.]/g, '').replace(/^0+/, '').length;
}
