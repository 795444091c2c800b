import { claimOf, meanInterval, seedsNeeded, type Claim, type Interval } from '../base/inference.ts';

/** What several runs say together. */
export interface Summary {
  readonly n: number;
  readonly mean: number; // NaN without values
  readonly sd: number; // sample standard deviation, n − 1; NaN below two values
}

/** Mean and sample standard deviation. */
export function summaryOf(values: readonly number[]): Summary {
  const n = values.length;
  const mean = values.reduce((sum, x) => sum + x, 0) / n;
  const squares = values.reduce((sum, x) => sum + (x - mean) ** 2, 0);
  return { n, mean, sd: n < 2 ? NaN : Math.sqrt(squares / (n - 1)) };
}

/** Differences over the seeds that both sides have. */
export interface Paired extends Summary {
  readonly better: number; // seeds with a difference above 0
  readonly interval: Interval | null; // paired t over the seeds, 95 %; null below two
  readonly claim: Claim; // what that interval allows to say
  readonly needed: number | null; // seeds until it would leave 0 out, as things are; null: out of reach, or too few to say
}

/** `values` minus `reference`, seed by seed; seeds only one of them has do not count. */
export function pairedDifference(values: ReadonlyMap<number, number>, reference: ReadonlyMap<number, number>): Paired {
  const differences = Array.from(values).flatMap(([seed, value]) => {
    const other = reference.get(seed);
    return other === undefined ? [] : [value - other];
  });
  return pairedSummary(differences);
}

/** What paired differences, one a seed, say together. */
export function pairedSummary(differences: readonly number[]): Paired {
  const summary = summaryOf(differences);
  return {
    ...summary,
    better: differences.filter((x) => x > 0).length,
    interval: meanInterval(summary),
    claim: claimOf(summary),
    needed: summary.n < 2 ? null : seedsNeeded(summary.mean, summary.sd),
  };
}

/** The mean at each position over the curves that reach it. */
export function meanCurve(curves: readonly (readonly number[])[]): number[] {
  const length = curves.reduce((most, curve) => Math.max(most, curve.length), 0);
  return Array.from({ length }, (_, i) => summaryOf(curves.flatMap((curve) => curve[i] ?? [])).mean);
}
