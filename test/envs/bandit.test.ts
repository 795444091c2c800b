import { describe, expect, it } from 'vitest';
import type { EnvView } from '../../src/domain/envView.ts';
import { expertPlay, play, subject } from './checker.ts';

type Bandit = Extract<EnvView, { kind: 'bandit' }>;
function banditOf(view: EnvView): Bandit {
  if (view.kind !== 'bandit') throw new Error('want a bandit');
  return view;
}

const SEEDS = Array.from({ length: 4000 }, (_, i) => 100 + i);
const plain = subject('bandit');
const reversed = subject('bandit-reversed');
const { env, settings } = plain;
const pull = (seed: number, arm: string) =>
  play(env.reset(seed, settings), settings, () => ['<answer>', arm, '</answer>'].map((w) => env.vocabulary.indexOf(w)));
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

describe('bandit', () => {
  it('pays .25 on average for the risky arm, .1 for the safe one, and nothing for one that was not on offer', () => {
    const risky = SEEDS.map((seed) => expertPlay(plain, seed));
    expect(risky.every(({ success }) => success)).toBe(true);
    expect(mean(risky.map(({ total }) => total))).toBeCloseTo(0.25, 1); // standard error .007
    expect(new Set(risky.map(({ total }) => total))).toEqual(new Set([0, 1]));
    for (const seed of SEEDS.slice(0, 100)) {
      const { safe, arms } = banditOf(env.reset(seed, settings).view());
      expect(pull(seed, safe)).toMatchObject({ total: 0.1, success: false });
      const other = arms.includes('dragon') ? 'trader' : 'dragon';
      expect(pull(seed, other)).toMatchObject({ total: 0, success: false });
    }
  });

  it('shows the arms in an order that says nothing of their risk', () => {
    const first = SEEDS.map((seed) => {
      const { arms, risky } = banditOf(env.reset(seed, settings).view());
      return arms[0] === risky ? 1 : 0;
    });
    expect(Math.abs(mean(first) - 0.5)).toBeLessThan(0.03); // standard error .008
  });

  it('is reversed out of the domain, under the same prompts', () => {
    for (const seed of SEEDS.slice(0, 200)) {
      const [a, b] = [env.reset(seed, settings), env.splits.shifted.reset(seed, settings)];
      expect([banditOf(b.view()).safe, banditOf(b.view()).risky]).toEqual([
        banditOf(a.view()).risky,
        banditOf(a.view()).safe,
      ]);
      expect(new Set(b.prompt)).toEqual(new Set(a.prompt));
      expect(reversed.env.reset(seed, settings).prompt).toEqual(b.prompt);
      expect(banditOf(reversed.env.reset(seed, settings).view()).risky).toBe(banditOf(b.view()).risky);
    }
  });

  it('is over after one turn, malformed or not', () => {
    const { turns } = play(env.reset(7, settings), settings, () => []);
    expect(turns).toHaveLength(1);
    expect(turns[0]).toMatchObject({ valid: false, stop: 'turns', success: false, parts: { outcome: 0 } });
  });
});
