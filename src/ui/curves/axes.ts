import type { Bucket } from '../../runs/buckets.ts';

/** The scale of values of a chart: its ends and what is written beside it. */
export interface Axis {
  readonly domain: readonly [number, number];
  readonly ticks: readonly number[];
  readonly log: boolean;
}

const STEPS = [1, 2, 2.5, 5, 10];
const LOG_STEPS = [1, 2, 5, 10];
/** Ends of an axis of updates: their halves are whole numbers, too. */
const WHOLE_STEPS = [1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10];
const MIN_END = 10; // updates: an axis has at least as many places
const ALMOST = 1e-9; // of a decade, by which a logarithm may miss a whole number

/** The next round number, upwards: one of some steps times a power of ten. */
function roundUp(value: number, steps = STEPS): number {
  const decade = 10 ** Math.floor(Math.log10(value));
  return decade * (steps.find((step) => step * decade >= value * 0.999) ?? 10);
}

/** Where an axis of updates ends that holds the newest one: at it or behind it, in steps. */
export function axisEnd(newest: number): number {
  return roundUp(Math.max(MIN_END, newest), WHOLE_STEPS);
}

/** From 0 to 1, for shares. */
export const SHARES: Axis = { domain: [0, 1], ticks: [0, 0.5, 1], log: false };

/** The scale of values for these positions, logarithmic if asked for and if there can be one; and why it is not, in words. */
export function axisFor(
  buckets: readonly Bucket[],
  { shares, log }: { readonly shares: boolean; readonly log: boolean },
): { readonly axis: Axis; readonly note: string } {
  if (shares) return { axis: SHARES, note: log ? 'linear: a share, from 0 to 1' : '' };
  const wanted = log ? logAxis(buckets) : linearAxis(buckets);
  return typeof wanted === 'string' ? { axis: linearAxis(buckets), note: wanted } : { axis: wanted, note: '' };
}

/** An axis that holds these positions and 0, its ends on round numbers, so that they move in steps and not with every point. */
export function linearAxis(buckets: readonly Bucket[]): Axis {
  let [low, high] = [0, 0];
  for (const { min, max, smooth } of buckets) {
    low = Math.min(low, min, smooth);
    high = Math.max(high, max, smooth);
  }
  const size = Math.max(high, -low) / 5; // a side that is drawn at all gets room for its tick
  const domain: Axis['domain'] =
    low === 0 && high === 0
      ? [0, 1]
      : [low < 0 ? -roundUp(Math.max(-low, size)) : 0, high > 0 ? roundUp(Math.max(high, size)) : 0];
  const middle = domain[0] < 0 && domain[1] > 0 ? 0 : (domain[0] + domain[1]) / 2;
  return { domain, ticks: [domain[0], middle, domain[1]], log: false };
}

/** An axis in powers of ten that holds these positions; or why there can be none, in words: a logarithm wants more than 0. */
export function logAxis(buckets: readonly Bucket[]): Axis | string {
  let [low, high] = [Infinity, 0];
  for (const { first, last, min, max, smooth } of buckets) {
    const least = Math.min(min, smooth);
    if (least <= 0) {
      const where = first === last ? `at update ${last}` : `within updates ${first} to ${last}`;
      return `linear: ${least === 0 ? '0' : 'below 0'} ${where}`;
    }
    low = Math.min(low, least);
    high = Math.max(high, max, smooth);
  }
  if (buckets.length === 0) return 'linear: nothing in view';
  const domain = [1 / roundUp(1 / low, LOG_STEPS), roundUp(high, LOG_STEPS)] as const;
  const powers: number[] = [];
  const [from, to] = domain.map(Math.log10) as [number, number];
  for (let power = Math.ceil(from - ALMOST); power <= Math.floor(to + ALMOST); power++) powers.push(10 ** power);
  return {
    domain,
    ticks: powers.length >= 2 ? fewer(powers) : [...new Set([domain[0], ...powers, domain[1]])],
    log: true,
  };
}

/** At most four of some powers of ten, evenly chosen. */
function fewer(powers: readonly number[]): readonly number[] {
  const every = Math.ceil(powers.length / 4);
  return powers.filter((_, i) => i % every === 0);
}
