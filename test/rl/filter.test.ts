import { describe, expect, it } from 'vitest';
import { groupRelative } from '../../src/rl/advantages.ts';
import { type FilterSettings, filterGroups } from '../../src/rl/filter.ts';
import { Purpose, random } from '../../src/base/rng.ts';

const NONE: FilterSettings = { mode: 'none', share: 1, topP: 1, scaling: 'none' };

/** Two rollouts per group whose scores have these n − 1 standard deviations; groups are 0, 1, 2, … */
function ofSpreads(spreads: readonly number[], settings: Partial<FilterSettings>) {
  const scores = spreads.flatMap((s) => [1 + s * Math.SQRT2, 1]);
  return filterGroups(
    scores,
    Int32Array.from(scores, (_, row) => row >> 1),
    { ...NONE, ...settings },
  );
}
const keptIds = ({ groups }: { readonly groups: Int32Array }) => [...new Set(groups)].filter((group) => group >= 0);

describe('the filter that drops uniform groups', () => {
  it('keeps all others, whatever share the other filters would keep', () => {
    expect(keptIds(ofSpreads([0.5, 0, 0.1, 0.01], { mode: 'drop-uniform', topP: 0.5, share: 0.25 }))).toEqual([
      0, 2, 3,
    ]);
  });
});

describe('the top-p filter', () => {
  it.each([
    [
      [0.5, 0.4, 0.3, 0],
      [0, 1, 2],
    ],
    [
      [0.5, 0.05, 0.05, 0],
      [0, 1],
    ],
    [[0, 0, 0, 0], []],
    [
      [0.3, 0, 0.5, 0.4],
      [0, 2, 3],
    ],
  ])('of spreads %j at .9 keeps groups %j', (spreads, want) => {
    const got = ofSpreads(spreads, { mode: 'top-p', topP: 0.9 });
    expect(keptIds(got)).toEqual(want);
    expect(got.keptGroups).toBe(want.length);
    expect(got.totalGroups).toBe(4);
  });

  it('at 1 keeps every group that is not uniform, however small its spread', () => {
    expect(keptIds(ofSpreads([0.5, 1e-4, 0], { mode: 'top-p', topP: 1 }))).toEqual([0, 1]);
  });

  it('keeps nothing where all spreads together are below its slack', () => {
    expect(keptIds(ofSpreads([0.004, 0.004], { mode: 'top-p', topP: 0.9 }))).toEqual([]);
  });

  it('keeps fewer where one group holds all the spread', () => {
    expect(keptIds(ofSpreads([0.5, 0.05, 0.05, 0], { mode: 'top-p', topP: 0.8 }))).toEqual([0]);
  });
});

describe('the top-fraction filter', () => {
  it.each([
    [0.25, [1, 5]],
    [0.5, [0, 1, 5, 6]],
    [0.49, [0, 1, 5]],
    [0.01, [1]],
    [1, [0, 1, 2, 3, 4, 5, 6, 7]],
  ])('keeps the share %f of the groups of largest spread', (share, want) => {
    expect(keptIds(ofSpreads([0.3, 0.5, 0, 0.1, 0.1, 0.4, 0.3, 0], { mode: 'top-fraction', share }))).toEqual(want);
  });

  it('gives ties to the lower id, wherever its rows lie', () => {
    const settings = { ...NONE, mode: 'top-fraction', share: 0.5 } as const;
    expect([...filterGroups([1, 0, 1, 0], Int32Array.of(9, 9, 3, 3), settings).groups]).toEqual([-1, -1, 3, 3]);
  });
});

describe('dropping uniform groups', () => {
  it('keeps those in which rollouts differ', () => {
    const got = ofSpreads([0, 0.3, 0, 1e-3], { mode: 'drop-uniform' });
    expect([...got.groups]).toEqual([-1, -1, 1, 1, -1, -1, 3, 3]);
    expect([got.keptGroups, got.totalGroups]).toEqual([2, 4]);
  });

  it('takes float32 noise for the same score', () => {
    const noisy = filterGroups([-1, -1.0000001, 1, 0], Int32Array.of(0, 0, 1, 1), { ...NONE, mode: 'drop-uniform' });
    expect([...noisy.groups]).toEqual([-1, -1, 1, 1]);
    expect(noisy.spread.get(0)).toBe(0);
  });

  it('takes a group of one for uniform', () => {
    const got = filterGroups([7, 1, 0], Int32Array.of(0, 1, 1), { ...NONE, mode: 'drop-uniform' });
    expect([...got.groups]).toEqual([-1, 1, 1]);
  });
});

describe('a filter', () => {
  const KINDS = ['none', 'top-fraction', 'top-p', 'drop-uniform'] as const;

  it('measures the n − 1 standard deviation of a group', () => {
    const { spread } = filterGroups([1, 0, 0, 1, 5], Int32Array.of(2, 2, 2, 2, 4), NONE);
    expect([...spread.keys()]).toEqual([2, 4]);
    expect(spread.get(2)).toBeCloseTo(0.57735, 5);
    expect(spread.get(4)).toBe(0);
  });

  it.each(KINDS)('%s keeps the same groups however their rows are dealt', (kind) => {
    const draw = random(13, Purpose.shuffle);
    const scores = Array.from({ length: 32 }, (_, row) => (row < 8 ? 1 : Math.round(draw.next() * (1 + (row >> 3)))));
    const groups = Int32Array.from(scores, (_, row) => row >> 2);
    const settings = { ...NONE, mode: kind, share: 0.5, topP: 0.7 };
    const sorted = filterGroups(scores, groups, settings);
    const order = draw.shuffle(Int32Array.from(scores, (_, row) => row));
    const dealt = filterGroups(
      [...order].map((row) => scores[row]!),
      order.map((row) => groups[row]!),
      settings,
    );
    expect([...dealt.groups]).toEqual([...order].map((row) => sorted.groups[row]!));
    if (kind === 'none') expect(sorted.keptGroups).toBe(8);
    else expect(sorted.keptGroups).toBeLessThan(7);
    expect(sorted.keptGroups).toBeGreaterThan(1);
  });

  it.each(KINDS)('%s leaves out rows that were out already and counts them nowhere', (kind) => {
    const settings = { ...NONE, mode: kind, share: 0.5, topP: 0.9, scaling: 'linear' } as const;
    const got = filterGroups([9, 1, 0, 9, 1, 1], Int32Array.of(-1, 0, 0, -1, 1, 1), settings);
    const inside = filterGroups([1, 0, 1, 1], Int32Array.of(0, 0, 1, 1), settings);
    expect([...got.groups]).toEqual([-1, inside.groups[0], inside.groups[1], -1, inside.groups[2], inside.groups[3]]);
    expect({ ...got, groups: 0 }).toEqual({ ...inside, groups: 0 });
    expect(got.groups[1]).toBe(0);
  });

  it('needs raw scores: divided by their spread all groups look alike', () => {
    const raw = [1, 0, 0.6, 0.5, 0.9, 0.1, 0.5, 0.5];
    const groups = Int32Array.of(0, 0, 1, 1, 2, 2, 3, 3);
    const settings = { ...NONE, mode: 'top-p', topP: 0.5 } as const;
    const right = filterGroups(raw, groups, settings);
    expect(keptIds(right)).toEqual([0]);
    expect(right.spread.get(1)! / right.spread.get(0)!).toBeCloseTo(0.1, 12);
    const wrong = filterGroups(groupRelative(raw, groups, 'mean-over-std'), groups, settings);
    expect(keptIds(wrong)).toHaveLength(2);
    // But for the eps of 1e-6 in the division.
    expect(wrong.spread.get(1)! / wrong.spread.get(0)!).toBeCloseTo(1, 4);
  });

  it.each([
    ['none', 1],
    ['linear', 0.25],
    ['sqrt', 0.5],
  ] as const)('scales advantages by the kept share, %s', (scaling, want) => {
    expect(ofSpreads([0, 0.5, 0, 0], { mode: 'drop-uniform', scaling }).scale).toBe(want);
    expect(ofSpreads([0.1, 0.5, 0.2, 0.3], { mode: 'drop-uniform', scaling }).scale).toBe(1);
  });

  it('keeps nothing of a batch without a group', () => {
    for (const mode of KINDS) {
      const got = filterGroups([1, 2], Int32Array.of(-1, -1), { ...NONE, mode, scaling: 'linear' });
      expect([...got.groups]).toEqual([-1, -1]);
      expect([got.keptGroups, got.totalGroups, got.scale]).toEqual([0, 0, 0]);
    }
  });
});
