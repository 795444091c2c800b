import { describe, expect, it } from 'vitest';
import {
  benjaminiHochberg,
  differenceInterval,
  fisherTest,
  meanInterval,
  shareInterval,
  signTest,
  slopeInterval,
  slopeFitter,
  tQuantile,
} from '../src/base/inference.ts';
import { Purpose, random } from '../src/base/rng.ts';
import { correctedComparisons, pairedSummary, summaryOf } from '../src/base/statistics.ts';
import { pValueText } from '../src/base/inferenceWords.ts';
import { differenceCellText } from '../src/experiments/wording.ts';

describe('quantiles and exact tests agree with printed tables', () => {
  it.each([
    [1, 12.7062],
    [2, 4.30265],
    [4, 2.77645],
    [7, 2.36462],
    [30, 2.04227],
    [999, 1.96234],
  ])('t of .975 with %i degrees of freedom is %f', (df, t) => {
    expect(tQuantile(0.975, df)).toBeCloseTo(t, 4);
  });

  it.each([
    [8, 10, 0.4439, 0.97479], // Clopper & Pearson
    [0, 16, 0, 0.20591],
    [16, 16, 0.79409, 1],
    [12, 16, 0.47623, 0.92734],
  ])('%i of %i hits: %f to %f', (hits, n, low, high) => {
    expect(shareInterval(hits, n).low).toBeCloseTo(low, 4);
    expect(shareInterval(hits, n).high).toBeCloseTo(high, 4);
  });

  it('the sign test counts pairs that differ: five to nothing is not enough, six is', () => {
    expect(signTest(0, 0)).toBe(1);
    expect(signTest(2, 0)).toBeCloseTo(0.5, 12);
    expect(signTest(0, 5)).toBeCloseTo(2 / 32, 12);
    expect(signTest(6, 0)).toBeCloseTo(2 / 64, 12);
    expect(signTest(1, 7)).toBeCloseTo(18 / 256, 12);
  });

  it('Fisher’s test gives the lady tasting tea .486, and nothing in eight against five .026', () => {
    expect(fisherTest(3, 4, 1, 4)).toBeCloseTo(34 / 70, 10);
    expect(fisherTest(0, 8, 5, 8)).toBeCloseTo(0.025641, 6);
  });
});

/** In how many of all ways in which `n` signs can fall so many are up. */
const UPS = Array.from({ length: 9 }, (_, n) => {
  const counts = Array<number>(n + 1).fill(0);
  for (let signs = 0; signs < 2 ** n; signs++) counts[signs.toString(2).replaceAll('0', '').length]!++;
  return counts;
});

/** The exact sign test as a table of its own: every way in which the pairs that differ could have fallen, counted. */
function byEnumeration(better: number, worse: number): number {
  const n = better + worse;
  const asUneven = (UPS[n] ?? []).filter((_, up) => Math.abs(up - (n - up)) >= Math.abs(better - worse));
  return asUneven.reduce((sum, ways) => sum + ways, 0) / 2 ** n;
}

/** Every way in which up to eight seeds can come out. */
const SPLITS = Array.from(
  { length: 9 ** 3 },
  (_, i) => [i % 9, Math.floor(i / 9) % 9, Math.floor(i / 81)] as const,
).filter(([better, tied, worse]) => better + tied + worse > 0 && better + tied + worse <= 8);

describe('a difference of means', () => {
  it('is Welch’s with the smaller list’s degrees of freedom: t(2) is 4.30265, and t(6) would be 2.44691', () => {
    // means 2 and 5, variances 1 of 3 values and 14/3 of 7 values
    const short = [1, 2, 3];
    const long = [2, 3, 4, 5, 6, 7, 8];
    const halfWidth = 4.302653 * Math.sqrt(1 / 3 + 14 / 3 / 7);
    for (const [before, after, difference] of [
      [short, long, 3],
      [long, short, -3],
    ] as const) {
      // prettier-ignore
      expect(differenceInterval(before, after)?.low).toBeCloseTo(difference - halfWidth, 5);
      expect(differenceInterval(before, after)?.high).toBeCloseTo(difference + halfWidth, 5);
    }
    expect(differenceInterval([1], long)).toBeNull();
  });
});

describe('a trend', () => {
  it('is the least-squares slope with its t interval, as scipy.stats.linregress has it', () => {
    // neighbouring residuals go opposite ways, so nothing is widened: .05714 ± 2.4469 · .013041
    const line = slopeInterval([1, 2, 3, 4, 5, 6, 7, 8], [0.1, 0.3, 0.2, 0.4, 0.3, 0.5, 0.4, 0.6]);
    expect(line?.slope).toBeCloseTo(0.0571428571, 9);
    expect(line?.interval.low).toBeCloseTo(0.0252326472, 9);
    expect(line?.interval.high).toBeCloseTo(0.0890530671, 9);
  });

  it('is less sure where neighbours are alike: r = .599 widens by √(1.599 / .401)', () => {
    const line = slopeInterval([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], [0.1, 0.1, 0.2, 0.3, 0.5, 0.6, 0.6, 0.6, 0.5, 0.5]);
    expect(line?.interval.low).toBeCloseTo(-0.003093833, 9); // .0269 without
    expect(line?.interval.high).toBeCloseTo(0.1170332269, 9);
  });

  it('has a wider interval where more than one part is looked at: t(6) is 2.9687 at a tail of .0125', () => {
    const part = slopeFitter([1, 2, 3, 4, 5, 6, 7, 8], [0.1, 0.3, 0.2, 0.4, 0.3, 0.5, 0.4, 0.6])(0, 8, 0.025 / 2);
    expect(part?.interval.low).toBeCloseTo(0.0571428571 - 2.968687 * 0.0130410089, 6);
  });

  it('needs six points', () => {
    expect(slopeInterval([1, 2, 3, 4, 5], [1, 2, 3, 4, 6])).toBeNull();
  });

  it('of every part of a curve is that of the part alone', () => {
    const draw = random(11, Purpose.environment);
    const y = Array.from({ length: 400 }, (_, i) => 0.2 + i / 1000 + 0.1 * draw.next());
    const x = y.map((_, i) => 3 * i + 7);
    const from = slopeFitter(x, y);
    for (let at = 0; at <= 394; at++) {
      const [part, alone] = [from(at), slopeInterval(x.slice(at), y.slice(at))];
      // sums of 400 numbers below 2,000 in float64: ten digits are left
      expect(part?.slope).toBeCloseTo(alone?.slope ?? NaN, 10);
      expect(part?.interval.low).toBeCloseTo(alone?.interval.low ?? NaN, 10);
    }
    expect(from(395)).toBeNull();
    for (const [at, to] of [
      [0, 6],
      [3, 50],
      [200, 399],
    ] as const) {
      // prettier-ignore
      const [part, alone] = [from(at, to), slopeInterval(x.slice(at, to), y.slice(at, to))];
      expect(part?.slope).toBeCloseTo(alone?.slope ?? NaN, 10);
      expect(part?.interval.high).toBeCloseTo(alone?.interval.high ?? NaN, 10);
    }
  });

  it('of 500 parts of 5,000 points reads each point a few times, not once for each part', () => {
    let reads = 0;
    const counted = new Proxy(
      Float64Array.from({ length: 5000 }, (_, i) => Math.sin(i)),
      {
        get: (target, key) => {
          if (typeof key === 'string' && /^\d+$/.test(key)) reads++;
          return Reflect.get(target, key, target) as unknown;
        },
      },
    );
    const from = slopeFitter(Array.from({ length: 5000 }, (_, i) => i), counted); // prettier-ignore
    for (let at = 0; at < 5000; at += 10) from(at);
    expect(reads).toBeGreaterThan(5000);
    expect(reads).toBeLessThan(20 * 5000);
  });

  it('through points on a straight line leaves no doubt', () => {
    const line = slopeInterval([0, 1, 2, 3, 4, 5, 6], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]);
    expect(line?.interval.low).toBeCloseTo(0.1, 12);
    expect(line?.interval.high).toBeCloseTo(0.1, 12);
  });
});

describe('a claim about seeds', () => {
  const of = (better: number, tied: number, worse: number) =>
    pairedSummary([...Array<number>(better).fill(0.25), ...Array<number>(tied).fill(0), ...Array<number>(worse).fill(-0.125)]); // prettier-ignore

  it('is the exact sign test’s without the ties, in all 164 ways in which up to eight seeds can come out', () => {
    expect(SPLITS).toHaveLength(164);
    for (const [better, tied, worse] of SPLITS) {
      const exact = byEnumeration(better, worse);
      const { p, claim, ...rest } = of(better, tied, worse);
      const told = `${better} better, ${tied} tied, ${worse} worse`;
      expect(p, told).toBeCloseTo(exact, 12);
      expect(claim, told).toBe(exact >= 0.05 ? 'unclear' : better > worse ? 'more' : 'less');
      expect(rest, told).toMatchObject({ better, tied, worse });
    }
    // by hand: eight ties say nothing, nor does one seed of eight; four to nothing is 2 · ½⁴
    const known = [of(0, 8, 0), of(1, 7, 0), of(4, 4, 0), of(6, 2, 0)].map(({ p }) => Number(p.toPrecision(10)));
    expect(known).toEqual([1, 1, 0.125, 0.03125]);
  });

  it('takes differences that only rounding makes for ties', () => {
    expect(pairedSummary([0.1 + 0.2 - 0.3, 0.3 - 0.2 - 0.1])).toMatchObject({ better: 0, tied: 2, worse: 0, p: 1 });
  });

  it('names the seeds it would take, should they go on to split so', () => {
    expect(of(3, 0, 0).needed).toBe(6); // 2 · ½⁶ = .031
    expect(of(4, 4, 0).needed).toBe(11); // six of eleven differ
    expect(of(2, 0, 2).needed).toBeNull();
    expect(of(0, 3, 0).needed).toBeNull();
  });

  it('of several is corrected for their number, as Benjamini and Hochberg do', () => {
    // scipy.stats.false_discovery_control([.0078125, .4531, .0703125, .125, .0078125, .03])
    const values = [0.0078125, 0.4531, 0.0703125, 0.125, 0.0078125, 0.03];
    const corrected = benjaminiHochberg(values);
    [0.0234375, 0.4531, 0.10546875, 0.15, 0.0234375, 0.06].forEach((p, i) => expect(corrected[i]).toBeCloseTo(p, 12));
    const alone = of(6, 0, 0);
    expect(alone.claim).toBe('more'); // p .031
    const [one, none, other] = correctedComparisons([alone, null, of(1, 1, 1)]);
    expect(one?.corrected).toBeCloseTo(0.0625, 12); // the smaller of two
    expect(one?.claim).toBe('unclear');
    expect([none, other?.corrected]).toEqual([null, 1]);
    expect(benjaminiHochberg([])).toEqual([]);
  });

  it('is never told beside a p that reads otherwise', () => {
    expect([0.0004, 0.0078, 0.0312, 0.04996, 0.05, 0.0703, 0.125, 1].map(pValueText)).toEqual(
      ['< .001', '= .0078', '= .031', '< .05', '= .050', '= .070', '= .13', '= 1'], // prettier-ignore
    );
  });

  it('covers a true difference of 0 in 95 of 100 repetitions of five seeds by the t interval', () => {
    // a generator of our own and 4,000 repetitions: the standard error of the share is .0035
    let state = 12345;
    const uniform = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
    const normal = () => Math.sqrt(-2 * Math.log(uniform() + 1e-12)) * Math.cos(2 * Math.PI * uniform());
    let held = 0;
    for (let i = 0; i < 4000; i++) {
      const interval = meanInterval(summaryOf(Array.from({ length: 5 }, normal)));
      if (interval && interval.low <= 0 && interval.high >= 0) held++;
    }
    expect(held / 4000).toBeGreaterThan(0.94);
    expect(held / 4000).toBeLessThan(0.96);
  });

  it('has no interval where all seeds came out alike: they say nothing of their spread', () => {
    expect(meanInterval(summaryOf([0.1, 0.1, 0.1]))).toBeNull();
    expect(meanInterval(summaryOf([0.1 + 0.2, 0.3, 0.3]))).toBeNull();
  });

  it('is worded in the table, with n, interval, p and what it would take', () => {
    expect(differenceCellText(pairedSummary([0.25, 0.2, 0.3]))).toBe(
      '+0.250 (95 %: +0.126 to +0.374), better in 3 of 3 seeds, p = .25: cannot tell (about 6 seeds like these would be enough)',
    );
    expect(differenceCellText(pairedSummary([0.2]))).toBe('+0.200, better in 1 of 1 seeds: cannot tell from one seed');
    expect(differenceCellText(pairedSummary([0.1, -0.1, 0]))).toBe(
      '0.000 (95 %: −0.248 to +0.248), better in 1 of 3 seeds, equal in 1, p = 1: cannot tell',
    );
    expect(differenceCellText(of(8, 0, 0))).toBe('+0.250, better in 8 of 8 seeds, p = .0078');
  });
});
