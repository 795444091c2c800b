import {
  claimOf,
  correctedForNumber,
  meanInterval,
  seedsNeeded,
  signsOf,
  signTest,
  type Claim,
  type Interval,
  type Signs,
} from '../base/inference.ts';

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

/** Differences over the seeds that both sides have. What they claim is by the exact sign test alone. */
export interface Paired extends Summary, Signs {
  readonly low: number; // smallest of them; NaN without any
  readonly high: number;
  readonly interval: Interval | null; // paired t over the seeds, 95 %; null below two, or where all are alike
  readonly p: number; // exact sign test; seeds that are tied do not count
  readonly corrected: number; // the same for one of several comparisons, as `correctedTogether` has it
  readonly claim: Claim; // what `corrected` allows to say
  readonly needed: number | null; // seeds until `p` would be small enough, as things are; null: out of reach, or too few to say
}

/** `values` minus `reference`, seed by seed; seeds only one of them has do not count. */
export function pairedDifference(values: ReadonlyMap<number, number>, reference: ReadonlyMap<number, number>): Paired {
  const differences = Array.from(values).flatMap(([seed, value]) => {
    const other = reference.get(seed);
    return other === undefined ? [] : [value - other];
  });
  return pairedSummary(differences);
}

/** What paired differences, one a seed, say together, as the only comparison that is made. */
export function pairedSummary(differences: readonly number[]): Paired {
  const summary = summaryOf(differences);
  const signs = signsOf(differences);
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

/** Several comparisons, each with what it may claim as one of them; places without a comparison stay empty. */
export function correctedTogether(all: readonly (Paired | null)[]): (Paired | null)[] {
  const made = all.flatMap((paired) => (paired && paired.n > 0 ? [paired] : []));
  const values = correctedForNumber(made.map(({ p }) => p));
  return all.map((paired) => {
    const corrected = paired ? values[made.indexOf(paired)] : undefined;
    return paired && corrected !== undefined ? { ...paired, corrected, claim: claimOf(paired, corrected) } : paired;
  });
}

/** The mean at each position over the curves that reach it. */
export function meanCurve(curves: readonly (readonly number[])[]): number[] {
  const length = curves.reduce((most, curve) => Math.max(most, curve.length), 0);
  return Array.from({ length }, (_, i) => summaryOf(curves.flatMap((curve) => curve[i] ?? [])).mean);
}
