import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { CreditSettings } from '../../src/model/learningSettings.ts';
import { close, creditOf, off } from './worked.ts';

interface Numbers {
  readonly advantages: readonly (readonly number[])[];
  readonly returns?: readonly (readonly number[])[];
  readonly rewards?: readonly (readonly number[])[];
  readonly turn_gamma?: number;
}
interface Case {
  readonly name: string;
  readonly gamma: number;
  readonly lambda: number;
  readonly roles: readonly (readonly number[])[];
  readonly rewards: readonly (readonly number[])[];
  readonly values: readonly (readonly number[])[];
  readonly groups: readonly number[];
  readonly expect: Readonly<Record<string, Numbers>>;
}
const casesOf = (file: string) =>
  (JSON.parse(readFileSync(new URL(`../golden/${file}`, import.meta.url), 'utf8')) as { cases: readonly Case[] }).cases;

const NAMES: Readonly<Record<string, Partial<CreditSettings>>> = {
  gae: { estimator: 'gae' },
  gae_no_advantage_mask: { estimator: 'gae', masks: off('advantage', 'whiten', 'value') },
  grpo: { estimator: 'grpo' },
  grpo_no_std: { estimator: 'grpo', divideByStd: false },
  reinforce_plus_plus: { estimator: 'reinforce++' },
  reinforce_plus_plus_baseline: { estimator: 'reinforce++-baseline' },
  rloo: { estimator: 'rloo' },
  bi_level_gae: { estimator: 'bi-level-gae' },
};

/**
 * How far float64 may stray: 1e-9, half a digit (5e-10) of the printed result, and what half a digit of every printed input comes
 * to in a sum over a row that is divided by a spread of about ½.
 */
const FLOAT64 = 3e-9;
/** The published bi-level implementation computes in float32: a few units of 1.2e-7 at numbers of about 2. */
const FLOAT32 = 5e-7;

function agree(c: Case, want: Numbers, settings: Partial<CreditSettings>, tolerance: number): void {
  const got = creditOf(
    c.roles,
    (want.rewards ?? c.rewards).flat(),
    { ...settings, gamma: c.gamma, lambda: c.lambda, turnGamma: want.turn_gamma ?? 1 },
    { values: c.values.flat(), groups: c.groups },
  );
  close(got.advantages, want.advantages.flat(), tolerance);
  if (want.returns) close(got.returns, want.returns.flat(), tolerance);
}

describe.each(casesOf('advantages.json').map((c) => [c.name, c] as const))('published implementations, %s', (_, c) => {
  it('are all here', () => {
    expect(Object.keys(c.expect).sort()).toEqual(Object.keys(NAMES).sort());
  });

  it.each(Object.keys(NAMES))('%s', (name) => {
    const want = c.expect[name]!;
    agree(c, want, NAMES[name]!, name === 'bi_level_gae' ? FLOAT32 : FLOAT64);
    const largest = Math.max(...want.advantages.flat().map(Math.abs));
    expect(largest).toBeGreaterThan(0.5);
  });
});

describe('bi-level advantages with rewards inside turns', () => {
  const cases = casesOf('advantages-inside-turns.json');
  const of = (c: Case) => c.expect['bi_level_gae_inside_turns']!;

  it.each(cases.map((c) => [c.name, c] as const))('are the written-out sums, %s', (_, c) => {
    agree(c, of(c), { estimator: 'bi-level-gae' }, FLOAT64);
  });

  it('are checked where rewards do lie there', () => {
    const inside = cases.flatMap((c) =>
      c.roles.flatMap((row, b) => of(c).rewards![b]!.filter((_, t) => row[t] === 2 && row[t + 1] === 2)),
    );
    expect(inside.filter((reward) => reward !== 0).length).toBeGreaterThan(100);
  });
});
