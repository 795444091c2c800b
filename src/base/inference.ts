/** How sure all intervals here are, and half of what they leave out on either side. */
const LEVEL = 0.95;
const TAIL = (1 - LEVEL) / 2;
/** A difference is called one only from so many seeds on: two that happen to agree say nothing of their spread. */
const MIN_SEEDS = 3;
const MOST_SEEDS = 1000;

/** An interval that holds the true value in `LEVEL` of all repetitions. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** What a comparison may claim. */
export type Claim = 'more' | 'less' | 'unclear';

/**
 * Student's t interval for the mean of independent values (one a seed): mean ± t(n − 1)·sd/√n. Null below two values.
 * For paired differences it is the paired t interval.
 */
export function meanInterval({ n, mean, sd }: { readonly n: number; readonly mean: number; readonly sd: number }) {
  if (n < 2 || !Number.isFinite(sd)) return null;
  const reach = (tQuantile(1 - TAIL, n - 1) * sd) / Math.sqrt(n);
  return { low: mean - reach, high: mean + reach } satisfies Interval;
}

/**
 * Interval of mean(after) − mean(before) for two lists of independent values: Welch's, with the fewer degrees of freedom of the
 * two, which errs on the wide side. Null below two values in either.
 */
export function differenceInterval(before: readonly number[], after: readonly number[]): Interval | null {
  const df = Math.min(before.length, after.length) - 1;
  if (df < 1) return null;
  const [a, b] = [spread(before), spread(after)];
  const reach = tQuantile(1 - TAIL, df) * Math.sqrt(a.variance / a.n + b.variance / b.n);
  return { low: b.mean - a.mean - reach, high: b.mean - a.mean + reach };
}

function spread(values: readonly number[]) {
  const n = values.length;
  const mean = values.reduce((sum, x) => sum + x, 0) / n;
  return { n, mean, variance: values.reduce((sum, x) => sum + (x - mean) ** 2, 0) / (n - 1) };
}

/** What a mean difference over `n` seeds may claim: nothing below three, nor where its interval holds 0. */
export function claimOf(summary: { readonly n: number; readonly mean: number; readonly sd: number }): Claim {
  const interval = summary.n < MIN_SEEDS ? null : meanInterval(summary);
  if (!interval || (interval.low <= 0 && interval.high >= 0)) return 'unclear';
  return interval.low > 0 ? 'more' : 'less';
}

/** How many seeds it takes until the t interval leaves 0 out, should mean and sd stay what they are; null: over a thousand. */
export function seedsNeeded(mean: number, sd: number): number | null {
  // the reach shrinks with every seed
  const enough = (n: number) => (tQuantile(1 - TAIL, n - 1) * sd) / Math.sqrt(n) < Math.abs(mean);
  if (!enough(MOST_SEEDS)) return null;
  let [low, high] = [MIN_SEEDS - 1, MOST_SEEDS];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (enough(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/** Clopper–Pearson: the exact interval of a share that was seen in `hits` of `n` independent tries; `hits` need not be whole. */
export function shareInterval(hits: number, n: number): Interval {
  if (n <= 0) return { low: 0, high: 1 };
  return {
    low: hits <= 0 ? 0 : betaQuantile(TAIL, hits, n - hits + 1),
    high: hits >= n ? 1 : betaQuantile(1 - TAIL, hits + 1, n - hits),
  };
}

/**
 * Exact two-sided sign test: the chance that pairs which differ split at least as unevenly as `better` against `worse` were
 * each side as likely. On tasks that both solved or both failed it is silent, so that this is McNemar's exact test.
 */
export function signTest(better: number, worse: number): number {
  const n = better + worse;
  let below = 0;
  for (let k = 0; k <= Math.min(better, worse); k++) below += Math.exp(lnChoose(n, k) - n * Math.LN2);
  return Math.min(1, 2 * below);
}

/** Fisher's exact test, two-sided: `a` of `n` against `b` of `m`, for two samples that are not paired. */
export function fisherTest(a: number, n: number, b: number, m: number): number {
  const hits = a + b;
  const chance = (k: number) => Math.exp(lnChoose(n, k) + lnChoose(m, hits - k) - lnChoose(n + m, hits));
  const seen = chance(a) * (1 + 1e-9); // ties with it count, whatever rounding says
  let p = 0;
  for (let k = Math.max(0, hits - m); k <= Math.min(n, hits); k++) if (chance(k) <= seen) p += chance(k);
  return Math.min(1, p);
}

/** Quantile of Student's t with `df` degrees of freedom, for p ≥ ½. */
export function tQuantile(p: number, df: number): number {
  const beyond = 2 * (1 - p); // P(|T| > t) = I_x(df/2, ½) with x = df/(df + t²)
  const x = betaQuantile(beyond, df / 2, 0.5);
  return Math.sqrt((df * (1 - x)) / x);
}

function betaQuantile(p: number, a: number, b: number): number {
  let [low, high] = [0, 1];
  for (let i = 0; i < 52; i++) {
    const middle = (low + high) / 2;
    if (betaCdf(middle, a, b) < p) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** Regularized incomplete beta function I_x(a, b), by its continued fraction (Abramowitz & Stegun 26.5.8; Lentz's method). */
function betaCdf(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  // it converges fast below the mean only
  if (x > (a + 1) / (a + b + 2)) return 1 - betaCdf(1 - x, b, a);
  const tiny = 1e-300;
  let c = 1;
  let d = 1 / (1 - ((a + b) * x) / (a + 1) || tiny);
  let fraction = d;
  for (let m = 1; m < 500; m++) {
    for (const term of [
      (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m)),
      (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1)),
    ]) {
      d = 1 / (1 + term * d || tiny);
      c = 1 + term / c || tiny;
      fraction *= c * d;
    }
    if (Math.abs(c * d - 1) < 1e-14) break;
  }
  return (Math.exp(a * Math.log(x) + b * Math.log1p(-x) - lnBeta(a, b)) / a) * fraction;
}

function lnBeta(a: number, b: number): number {
  return lnGamma(a) + lnGamma(b) - lnGamma(a + b);
}

function lnChoose(n: number, k: number): number {
  return k === 0 || k === n ? 0 : -Math.log(n + 1) - lnBeta(n - k + 1, k + 1);
}

/** ln Γ(x) for x > 0: moved up by the recurrence to where Stirling's series holds to 14 digits. */
function lnGamma(x: number): number {
  let shift = 0;
  for (; x < 15; x++) shift -= Math.log(x);
  const r = 1 / (x * x);
  const series = (1 / 12 - r * (1 / 360 - r * (1 / 1260 - r / 1680))) / x;
  return shift + (x - 0.5) * Math.log(x) - x + Math.log(2 * Math.PI) / 2 + series;
}
