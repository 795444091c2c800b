/** Level of all intervals in this file, unless a tail is given. `TAIL` is the probability that is left out on each side. */
const CONFIDENCE = 0.95;
export const TAIL = (1 - CONFIDENCE) / 2;
/** Significance level: a result counts as more than chance if its p value is below this. */
export const SIGNIFICANCE_LEVEL = 0.05;
const MAX_SEEDS = 1000;
const MIN_POINTS = 6; // a line through fewer points gets no interval
// largest correlation of neighbouring residuals that is used: near 1 the interval would grow without bound
const MAX_CORRELATION = 0.9;
// a residual sum of squares below this share of the curve's sum of squares is rounding error and counts as 0
const EXACT_FIT = 1e-14;
const ROUNDING = 1e-9; // two numbers that differ by less count as equal

/** A confidence interval: in a share `CONFIDENCE` of all repetitions it contains the true value. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

export type Claim = 'more' | 'less' | 'unclear';

/**
 * Student's t interval for the mean of independent values (one for each seed): mean ± t(n − 1)·sd/√n. For paired
 * differences it is the paired t interval. Null if there are fewer than two values or if all are equal, because the
 * spread is then unknown.
 */
export function meanInterval({ n, mean, sd }: { readonly n: number; readonly mean: number; readonly sd: number }) {
  if (n < 2 || !(sd > ROUNDING)) return null;
  const halfWidth = (tQuantile(1 - TAIL, n - 1) * sd) / Math.sqrt(n);
  return { low: mean - halfWidth, high: mean + halfWidth } satisfies Interval;
}

/** Welch's, for mean(after) − mean(before), with the smaller degrees of freedom: rather too wide. Null if a list has under two values. */
export function differenceInterval(before: readonly number[], after: readonly number[], tail = TAIL): Interval | null {
  const df = Math.min(before.length, after.length) - 1;
  if (df < 1) return null;
  const [a, b] = [spread(before), spread(after)];
  const halfWidth = tQuantile(1 - tail, df) * Math.sqrt(a.variance / a.n + b.variance / b.n);
  return { low: b.mean - a.mean - halfWidth, high: b.mean - a.mean + halfWidth };
}

function spread(values: readonly number[]) {
  const n = values.length;
  const mean = values.reduce((sum, x) => sum + x, 0) / n;
  return { n, mean, variance: values.reduce((sum, x) => sum + (x - mean) ** 2, 0) / (n - 1) };
}

export interface Slope {
  readonly slope: number; // change of y per unit of x
  readonly interval: Interval;
}

/**
 * Slope of the least-squares line through a noisy curve, with its t interval. Neighbouring points of a learning curve
 * are correlated. So the interval is widened by √((1 + r)/(1 − r)), where r is the correlation of neighbouring
 * residuals, as for first-order autoregressive noise. Null if there are fewer than six points: they can't tell a trend
 * from noise.
 */
export function slopeInterval(x: ArrayLike<number>, y: ArrayLike<number>): Slope | null {
  return slopeFitter(x, y)(0);
}

/** Gives the `slopeInterval` of points `from` to `to` − 1 of a curve. The interval leaves out `tail` on each side. */
export type SlopeFitter = (from: number, to?: number, tail?: number) => Slope | null;

/** Fits lines to parts of a curve. All sums are computed once, so the time for a part doesn't depend on its length. */
export function slopeFitter(x: ArrayLike<number>, y: ArrayLike<number>): SlopeFitter {
  const n = Math.min(x.length, y.length);
  const end = x[n - 1] ?? 0;
  let meanY = 0;
  for (let i = 0; i < n; i++) meanY += (y[i] ?? 0) / n;
  // x is measured from its last value and y from its mean: sums of products of large numbers would lose digits
  const u = (i: number) => (x[i] ?? 0) - end;
  const v = (i: number) => (y[i] ?? 0) - meanY;
  const sumsOver = (term: (i: number) => number, first = 0) => {
    const sums = new Float64Array(n + 1); // from each point to the end
    for (let i = n - 1; i >= first; i--) sums[i] = sums[i + 1]! + term(i);
    return (from: number, to: number) => (sums[Math.max(from, first)] ?? 0) - (sums[to] ?? 0);
  };
  const [sumU, sumV] = [sumsOver(u), sumsOver(v)];
  const [sumUU, sumUV, sumVV] = [sumsOver((i) => u(i) ** 2), sumsOver((i) => u(i) * v(i)), sumsOver((i) => v(i) ** 2)];
  // sums over pairs of neighbouring points: point i and point i − 1
  const pairSumsOver = (term: (i: number) => number) => {
    const sums = sumsOver(term, 1);
    return (from: number, to: number) => sums(from + 1, to);
  };
  const [pairU, pairV] = [pairSumsOver((i) => u(i) + u(i - 1)), pairSumsOver((i) => v(i) + v(i - 1))];
  const [pairUU, pairVV] = [pairSumsOver((i) => u(i) * u(i - 1)), pairSumsOver((i) => v(i) * v(i - 1))];
  const pairUV = pairSumsOver((i) => u(i) * v(i - 1) + u(i - 1) * v(i));
  return (from, to = n, tail = TAIL) => {
    const m = to - from;
    if (m < MIN_POINTS) return null;
    const [meanU, meanV] = [sumU(from, to) / m, sumV(from, to) / m];
    const squaresU = sumUU(from, to) - m * meanU ** 2;
    const [productsUV, squaresV] = [sumUV(from, to) - m * meanU * meanV, sumVV(from, to) - m * meanV ** 2];
    const slope = productsUV / squaresU;
    const residualSquares = squaresV - slope * productsUV;
    // the residuals of an exact line are only rounding errors
    const squaredResiduals = residualSquares > EXACT_FIT * sumVV(from, to) ? residualSquares : 0;
    const a = meanV - slope * meanU; // residual: v − a − slope·u
    const neighbourProducts =
      pairVV(from, to) - a * pairV(from, to) - slope * pairUV(from, to) + a * a * (m - 1) + a * slope * pairU(from, to) + slope ** 2 * pairUU(from, to); // prettier-ignore
    const r = Math.min(MAX_CORRELATION, Math.max(0, squaredResiduals > 0 ? neighbourProducts / squaredResiduals : 0));
    const halfWidth =
      tQuantile(1 - tail, m - 2) * Math.sqrt((squaredResiduals / (m - 2) / squaresU) * ((1 + r) / (1 - r)));
    return { slope, interval: { low: slope - halfWidth, high: slope + halfWidth } };
  };
}

/** Clopper–Pearson's exact interval, from `hits` of `n` independent tries. `hits` need not be a whole number. */
export function shareInterval(hits: number, n: number): Interval {
  if (n <= 0) return { low: 0, high: 1 };
  return {
    low: hits <= 0 ? 0 : betaQuantile(TAIL, hits, n - hits + 1),
    high: hits >= n ? 1 : betaQuantile(1 - TAIL, hits + 1, n - hits),
  };
}

/**
 * Exact two-sided sign test. `better` and `worse` count the pairs that differ, by sign. Returns the p value: the
 * probability of a split at least as uneven, if both signs are equally likely. If the pairs are tasks that two agents
 * solve or fail, this is McNemar's exact test; tasks with the same outcome for both don't count.
 */
export function signTest(better: number, worse: number): number {
  const n = better + worse;
  let below = 0;
  for (let k = 0; k <= Math.min(better, worse); k++) below += Math.exp(lnChoose(n, k) - n * Math.LN2);
  return Math.min(1, 2 * below);
}

/** Counts of paired differences by sign: above 0, equal to 0, below 0. */
export interface SignCounts {
  readonly better: number;
  readonly tied: number;
  readonly worse: number;
}

/** Counts the signs of paired differences. Differences as small as rounding errors are ties. */
export function countSigns(differences: readonly number[]): SignCounts {
  const better = differences.filter((x) => x > ROUNDING).length;
  const worse = differences.filter((x) => x < -ROUNDING).length;
  return { better, tied: differences.length - better - worse, worse };
}

/** Decides by the p value of the differences' exact test: 'unclear' if p is at least `SIGNIFICANCE_LEVEL`. */
export function claimOf({ better, worse }: SignCounts, p: number): Claim {
  if (p >= SIGNIFICANCE_LEVEL) return 'unclear';
  return better > worse ? 'more' : 'less';
}

/** About how many pairs give a p below `SIGNIFICANCE_LEVEL` if more split in the same proportion. Null if over a thousand. */
export function seedsNeeded({ better, tied, worse }: SignCounts): number | null {
  const n = better + tied + worse;
  if (better === worse) return null;
  for (let pairs = 1; pairs <= MAX_SEEDS; pairs++) {
    const [b, w] = [better, worse].map((count) => Math.round((count * pairs) / n)) as [number, number];
    if (signTest(b, w) < SIGNIFICANCE_LEVEL) return pairs;
  }
  return null;
}

/**
 * Corrects the p values of several comparisons for their number, by Benjamini and Hochberg's step-up procedure (1995).
 * Returns them in the same order. If the comparisons with a corrected value below .05 are taken as real, at most one in
 * twenty of these is expected to be chance.
 */
export function benjaminiHochberg(values: readonly number[]): number[] {
  const order = values.map((p, index) => ({ p, at: index })).toSorted((a, b) => b.p - a.p);
  const corrected = [...values];
  let smallest = 1;
  order.forEach(({ p, at }, i) => {
    smallest = Math.min(smallest, (p * values.length) / (values.length - i));
    corrected[at] = smallest;
  });
  return corrected;
}

/**
 * Fisher's exact test, two-sided: `a` of `n` against `b` of `m`, for two samples that are not paired. Returns the p
 * value.
 */
export function fisherTest(a: number, n: number, b: number, m: number): number {
  const hits = a + b;
  const chance = (k: number) => Math.exp(lnChoose(n, k) + lnChoose(m, hits - k) - lnChoose(n + m, hits));
  // a table as likely as the observed one counts, even if rounding makes it look a little likelier
  const observed = chance(a) * (1 + 1e-9);
  let p = 0;
  for (let k = Math.max(0, hits - m); k <= Math.min(n, hits); k++) if (chance(k) <= observed) p += chance(k);
  return Math.min(1, p);
}

/** Quantile of Student's t with `df` degrees of freedom, for p ≥ ½. */
export function tQuantile(p: number, df: number): number {
  const tailProbability = 2 * (1 - p); // P(|T| > t) = I_x(df/2, ½) with x = df/(df + t²)
  const x = betaQuantile(tailProbability, df / 2, 0.5);
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

/** Regularized, I_x(a, b), by its continued fraction (Abramowitz & Stegun 26.5.8; Lentz's method). */
function betaCdf(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  // the continued fraction converges fast only for x below the mean
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

/** For x > 0. The recurrence Γ(x + 1) = x·Γ(x) raises x to at least 15, where Stirling's series is exact to 14 digits. */
function lnGamma(x: number): number {
  let shift = 0;
  for (; x < 15; x++) shift -= Math.log(x);
  const r = 1 / (x * x);
  const series = (1 / 12 - r * (1 / 360 - r * (1 / 1260 - r / 1680))) / x;
  return shift + (x - 0.5) * Math.log(x) - x + Math.log(2 * Math.PI) / 2 + series;
}
