import { describe, expect, it } from 'vitest';
import { biLevelGae, gae } from '../../src/rl/advantages.ts';
import { close, MASK, REWARDS, SHAPE, VALUES } from './worked.ts';

describe('bi-level advantages', () => {
  const shape = { rows: 1, length: 10 };
  const values = Array.from({ length: 10 }, (_, t) => (t + 1) / 10);
  const rewards = [0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
  const ends = [0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
  const all = values.map(() => 1);
  const marks = { mask: all, turnEnds: ends };
  const discount = { gamma: 1, lambda: 1, turnGamma: 0.95 };

  it('agree with the worked row', () => {
    const got = biLevelGae(shape, rewards, values, marks, discount);
    close(got.advantages, [1.85, 1.75, 1.65, 1.55, 1.45, 0.4, 0.3, 0.2, 0.1, 0]);
    close(got.returns, [1.95, 1.95, 1.95, 1.95, 1.95, 1, 1, 1, 1, 1]);
  });

  it('keep a turn that was paid nothing a turn of its own', () => {
    const got = biLevelGae(shape, [0, 0, 0, 0, 0, 0, 0, 0, 0, 1], values, marks, discount);
    // Turn 2: 1 at its end, so its return is 1. Turn 1: 0 + .95·1.0 − .5 + .95·(1 − 1.0) = .45 at its end, return .95.
    close(got.returns, [0.95, 0.95, 0.95, 0.95, 0.95, 1, 1, 1, 1, 1], 1e-12);
    // Merged into one turn, the first token would see the reward of 1 undiscounted.
    expect(got.advantages[0]).toBeCloseTo(0.95 - 0.1, 12);
  });

  it('need no reward on the last token', () => {
    const got = biLevelGae(shape, [0, 0, 0, 0, 1, 0, 0, 0, 0, 0], values, marks, discount);
    // Turn 2 ends with 0 at a value of 1, A = −1; turn 1: 1 + .95·1 − .5 − .95 = .5, return 1.
    close(got.returns, [1, 1, 1, 1, 1, 0, 0, 0, 0, 0], 1e-12);
    expect(got.advantages[9]).toBe(-1);
  });

  it('make no turn of a token that pays for its KL', () => {
    const paid = rewards.map((r) => r - 0.01);
    const got = biLevelGae(shape, paid, values, marks, discount);
    // Turn 2 from its first token: .99 − 4·.01. Turn 1's end: .99 + .95·(.99 − 4·.01) at the turn level, then its own four.
    close(got.returns.slice(5), [0.95, 0.96, 0.97, 0.98, 0.99], 1e-12);
    close(
      got.returns.slice(0, 5),
      [0, 1, 2, 3, 4].map((t) => 0.99 + 0.95 * 0.95 - 0.01 * (4 - t)),
      1e-12,
    );
  });

  it('pay what lies inside a turn to every turn before it, and to no later token of its own', () => {
    const silent = all.map(() => 0);
    const inside = [0, 0, 0, 0, 0, 0, 0, 0.5, 0, 0];
    const paid = (rewards: readonly number[], change: Partial<typeof discount> = {}) => [
      ...biLevelGae(shape, rewards, silent, marks, { ...discount, turnGamma: 1, ...change }).advantages,
    ];
    expect(paid(inside)).toEqual([0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0, 0]);
    // One turn away is one turn's discount, from wherever in the turn; no token's, though γ halves each inside turn 2.
    const discounted = { turnGamma: 0.9, gamma: 0.5 };
    expect(paid(inside, discounted)[4]).toBeCloseTo(0.45, 12);
    expect(paid(inside.toReversed(), { turnGamma: 0.9 })).toEqual([0.5, 0.5, 0.5, 0, 0, 0, 0, 0, 0, 0]);
    expect(paid([0, 0, 0, 0, 0, 0.25, 0, 0, 0.25, 0], discounted)[4]).toBeCloseTo(0.45, 12);
    expect(paid(inside, discounted)[5]).toBeCloseTo(0.125, 12);
  });

  it.each([0, 0.5, 0.95, 1])('are 0 at every token under a critic that is right, at λ = %f', (lambda) => {
    const rewards = [0, 0.3, 0, 0, 1, 0, 0, -0.2, 0.4, 2];
    // By hand, back from the end: 2, then 2.4 and 2.2 inside turn 2; turn 1's end is worth 1 + .9·(−.2 + .4 + 2) = 2.98.
    const right = [3.28, 3.28, 2.98, 2.98, 2.98, 2.2, 2.2, 2.2, 2.4, 2];
    const got = biLevelGae(shape, rewards, right, marks, { gamma: 1, lambda, turnGamma: 0.9 });
    close(
      got.advantages,
      all.map(() => 0),
      1e-12,
    );
    close(got.returns, right, 1e-12);
  });

  it('pay what lies behind the last turn, or between two, to the turn before it', () => {
    const cut = [0, 0, 1, 0, 0, 0, 1, 0, 0, 0];
    const rewards = [0, 0, 0, 0.25, 0, 0, 0, 0, 0.5, 0];
    const { advantages } = biLevelGae(
      shape,
      rewards,
      all.map(() => 0),
      { mask: all, turnEnds: cut },
      { ...discount, turnGamma: 1 },
    );
    expect([...advantages]).toEqual([0.75, 0.75, 0.75, 0.75, 0.5, 0.5, 0.5, 0.5, 0.5, 0]);
  });

  it('skip observations between and inside turns, and begin afresh at every end', () => {
    // The worked row with two observations of absurd value and reward in it.
    const spread = (x: number[], filler: number) => [...x.slice(0, 5), filler, ...x.slice(5, 7), filler, ...x.slice(7)];
    const got = biLevelGae(
      { rows: 1, length: 12 },
      spread(rewards, NaN),
      spread(values, NaN),
      { mask: spread(all, 0), turnEnds: spread(ends, 0) },
      discount,
    );
    close(got.advantages, spread([1.85, 1.75, 1.65, 1.55, 1.45, 0.4, 0.3, 0.2, 0.1, 0], 0), 1e-12);
  });

  it('with one turn are token-level advantages', () => {
    const settings = { gamma: 0.9, lambda: 0.8, turnGamma: 0.5 };
    const turnEnds = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
    const one = biLevelGae(SHAPE, REWARDS, VALUES, { mask: MASK, turnEnds }, settings);
    expect([...one.advantages]).toEqual([...gae(SHAPE, REWARDS, VALUES, MASK, settings).advantages]);
  });
});
