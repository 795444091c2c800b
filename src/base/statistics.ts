import {
  claimOf,
  benjaminiHochberg,
  meanInterval,
  seedsNeeded,
  countSigns,
  signTest,
  type Claim,
  type Interval,
  type SignCounts,
} from './inference.ts';

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

/** Compares two arms by their differences for each seed that both have. Only the exact sign test decides the claim. */
export interface PairedComparison extends Summary, SignCounts {
  readonly low: number; // smallest difference; NaN if there are none
  readonly high: number; // largest difference; NaN if there are none
  /** 95 %, paired t-test over the seeds; null with fewer than two seeds or if all differences are equal. */
  readonly interval: Interval | null;
  readonly p: number; // of the exact sign test; tied seeds don't count
  readonly corrected: number; // `p` corrected for the number of comparisons, by `correctedComparisons`
  readonly claim: Claim; // the claim that `corrected` allows
  /** Seeds for which `p` would be small enough if further ones turn out like these. Null: unattainable, or too few to estimate. */
  readonly needed: number | null;
}

/** Compares `values` with `reference`, seed by seed. Seeds that only one of them has don't count. */
export function pairedDifference(
  values: ReadonlyMap<number, number>,
  reference: ReadonlyMap<number, number>,
): PairedComparison {
  const differences = Array.from(values).flatMap(([seed, value]) => {
    const other = reference.get(seed);
    return other === undefined ? [] : [value - other];
  });
  return pairedSummary(differences);
}

/** Statistics of paired differences, one for each seed, as if this were the only comparison. */
export function pairedSummary(differences: readonly number[]): PairedComparison {
  const summary = summaryOf(differences);
  const signs = countSigns(differences);
  const p = signTest(signs.better, signs.worse);
  return {
    ...summary,
    ...signs,
    low: differences.length > 0 ? Math.min(...differences) : NaN,
    high: differences.length > 0 ? Math.max(...differences) : NaN,
    interval: meanInterval(summary),
    p,
    corrected: p,
    claim: claimOf(signs, p),
    needed: summary.n < 2 ? null : seedsNeeded(signs),
  };
}

/** Corrects the p values and claims of several comparisons for their number. Null entries stay null. */
export function correctedComparisons(all: readonly (PairedComparison | null)[]): (PairedComparison | null)[] {
  const comparisons = all.flatMap((paired) => (paired && paired.n > 0 ? [paired] : []));
  const values = benjaminiHochberg(comparisons.map(({ p }) => p));
  return all.map((paired) => {
    const corrected = paired ? values[comparisons.indexOf(paired)] : undefined;
    return paired && corrected !== undefined ? { ...paired, corrected, claim: claimOf(paired, corrected) } : paired;
  });
}

/** The mean curve. At each position, it averages the curves that are long enough. */
export function meanCurve(curves: readonly (readonly number[])[]): number[] {
  const length = curves.reduce((most, curve) => Math.max(most, curve.length), 0);
  return Array.from({ length }, (_, i) => summaryOf(curves.flatMap((curve) => curve[i] ?? [])).mean);
}
