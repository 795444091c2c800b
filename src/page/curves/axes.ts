import type { Bucket } from '../../runs/buckets.ts';

export interface Axis {
  readonly domain: readonly [number, number];
  readonly ticks: readonly number[];
  readonly log: boolean;
}

const AXIS_STEPS = [1, 2, 2.5, 5, 10];
const LOG_STEPS = [1, 2, 5, 10];
/** Steps are close together, so that curves take at least five sixths of the width. Half of such an end is a whole number too. */
const UPDATE_STEPS = [1, 1.2, 1.4, 1.6, 1.8, 2, 2.2, 2.4, 2.8, 3.2, 3.6, 4, 4.8, 5.6, 6.4, 7.2, 8, 9, 10];
const MIN_END = 10; // updates; no axis is shorter
const LOG_TOLERANCE = 1e-9; // how far a logarithm may be off a whole number

/** Rounds up to one of the steps times a power of ten. A value up to 0.1 % above such a number is rounded down to it. */
function roundUp(value: number, steps = AXIS_STEPS): number {
  const decade = 10 ** Math.floor(Math.log10(value));
  return decade * (steps.find((step) => step * decade >= value * 0.999) ?? 10);
}

/** The end of an axis of updates: `newest` rounded up, so that the axis grows in steps. */
export function axisEnd(newest: number): number {
  return Math.round(roundUp(Math.max(MIN_END, newest), UPDATE_STEPS));
}

export const SHARE_AXIS: Axis = { domain: [0, 1], ticks: [0, 0.5, 1], log: false };

/** The axis is logarithmic if asked for and possible. `note`: why it isn't; otherwise ''. */
export function axisFor(
  buckets: readonly Bucket[],
  { shares: isShare, log }: { readonly shares: boolean; readonly log: boolean },
): { readonly axis: Axis; readonly note: string } {
  if (isShare) return { axis: SHARE_AXIS, note: log ? 'linear: a share, from 0 to 1' : '' };
  const axisOrReason = log ? logAxis(buckets) : linearAxis(buckets);
  return typeof axisOrReason === 'string'
    ? { axis: linearAxis(buckets), note: axisOrReason }
    : { axis: axisOrReason, note: '' };
}

/** Contains these buckets and 0. Its ends are round numbers, so they move in steps and not with every point. */
export function linearAxis(buckets: readonly Bucket[]): Axis {
  let [low, high] = [0, 0];
  for (const { min, max, smooth } of buckets) {
    low = Math.min(low, min, smooth);
    high = Math.max(high, max, smooth);
  }
  const minExtent = Math.max(high, -low) / 5; // least extent of a side that has values, so that its tick fits
  const domain: Axis['domain'] =
    low === 0 && high === 0
      ? [0, 1]
      : [low < 0 ? -roundUp(Math.max(-low, minExtent)) : 0, high > 0 ? roundUp(Math.max(high, minExtent)) : 0];
  const middle = domain[0] < 0 && domain[1] > 0 ? 0 : (domain[0] + domain[1]) / 2;
  return { domain, ticks: [domain[0], middle, domain[1]], log: false };
}

/** Contains these buckets. Returns the reason in words if a value is 0 or below, or if there is no value. */
export function logAxis(buckets: readonly Bucket[]): Axis | string {
  let [low, high] = [Infinity, 0];
  for (const { first, last, min, max, smooth } of buckets) {
    const least = Math.min(min, smooth);
    if (least <= 0) {
      const updatesText = first === last ? `at update ${last}` : `within updates ${first} to ${last}`;
      return `linear: ${least === 0 ? '0' : 'below 0'} ${updatesText}`;
    }
    low = Math.min(low, least);
    high = Math.max(high, max, smooth);
  }
  if (buckets.length === 0) return 'linear: nothing in view';
  const domain = [1 / roundUp(1 / low, LOG_STEPS), roundUp(high, LOG_STEPS)] as const;
  const powers: number[] = [];
  const [from, to] = domain.map(Math.log10) as [number, number];
  for (let power = Math.ceil(from - LOG_TOLERANCE); power <= Math.floor(to + LOG_TOLERANCE); power++)
    powers.push(10 ** power);
  return {
    domain,
    ticks: powers.length >= 2 ? thinPowers(powers) : [...new Set([domain[0], ...powers, domain[1]])],
    log: true,
  };
}

/** Thins out powers of ten evenly to at most four. */
function thinPowers(powers: readonly number[]): readonly number[] {
  const every = Math.ceil(powers.length / 4);
  return powers.filter((_, i) => i % every === 0);
}
