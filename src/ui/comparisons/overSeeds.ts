import { chanceText } from '../../base/inference.ts';
import type { Paired } from '../../experiments/statistics.ts';

/** How a difference over seeds is worded. */
interface Worded {
  readonly unit: string; // behind the mean
  readonly number: (value: number) => string; // with its sign
  readonly side: string; // what a seed with a difference above 0 is
  readonly told: string; // the claim, where there is one
}

/**
 * A difference over seeds: its mean, its smallest and largest, on how many seeds it is above 0, the exact sign test, and what that test
 * allows to claim. Ties count for neither side.
 */
export function overSeedsText(difference: Paired, { unit, number, side, told }: Worded): string {
  const { n, mean, low, high, better, tied, p, claim, needed } = difference;
  const alike = tied > 0 ? `, equal on ${tied}` : '';
  const numbers = `${number(mean)}${unit} (from ${number(low)} to ${number(high)}; ${side} on ${better} of ${n} seeds${alike}, exact sign test p ${chanceText(p)})`;
  if (claim !== 'unclear') return `${numbers}: ${told}.`;
  const need =
    needed === null ? '' : ` About ${Math.max(needed, n + 1)} seeds would be enough if the difference stays like this.`;
  return `${numbers}: cannot tell.${need}`;
}
