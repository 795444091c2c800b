import { describe, expect, it } from 'vitest';
import { Role } from '../../src/domain/tokens.ts';
import { turnProgress } from '../../src/domain/states.ts';
import { close, creditOf } from './worked.ts';

const { action: a, observation: o } = Role;
/** Turns of two tokens, with an observation after each; progress is paid on the second token. */
const ROLES = [[a, a, o, a, a, o, a, a, o]];
const TURNS = Uint8Array.from([1, 1, 1, 2, 2, 2, 3, 3, 3]);
const paid = (...gains: readonly number[]) => gains.flatMap((gain) => [0, gain, 0]);
/** The credit of the three turns. */
function creditFor(gains: readonly number[], turnGamma: number): readonly number[] {
  const parts = { process: Float64Array.from(paid(...gains)) as unknown as Float32Array };
  // float32 would round the worked numbers
  const progress = turnProgress({ turns: TURNS, parts }, turnGamma);
  const { returns } = creditOf(ROLES, paid(0, 0, 0), { estimator: 'turn-credit', turnGamma }, { progress });
  return [0, 3, 6].map((at) => returns[at]!);
}

describe('turn-credit', () => {
  it('shares each turn’s progress with the turns before, by γ^d over the sum of the weights', () => {
    // γ ½: the third turn's .7 has weights 4/7, 2/7, 1/7, the second's .3 has 2/3, 1/3
    close(creditFor([0, 0, 0.7], 0.5), [0.1, 0.2, 0.4], 1e-7); // float32
    close(creditFor([0, 0.3, 0], 0.5), [0.1, 0.2, 0], 1e-7);
    close(creditFor([0.2, 0.3, 0.7], 0.5), [0.4, 0.4, 0.4], 1e-7);
    close(creditFor([0.2, 0.3, 0.7], 0), [0.2, 0.3, 0.7], 1e-7);
    close(creditFor([0, 0, 0.6], 1), [0.2, 0.2, 0.2], 1e-7);
  });

  it('adds up to the last score minus the first, so going there and back earns 0, and a stall earns nothing', () => {
    for (const turnGamma of [0, 0.3, 0.95, 1]) {
      const scores = [0.1, 0.9, 0.1, 0.4];
      const gains = [1, 2, 3].map((k) => scores[k]! - scores[k - 1]!);
      close([creditFor(gains, turnGamma).reduce((sum, c) => sum + c, 0)], [0.4 - 0.1], 1e-6);
      expect(creditFor([0, 0, 0], turnGamma)).toEqual([0, 0, 0]);
    }
    close(creditFor([0.8, 0, 0], 0.9), [0.8, 0, 0], 1e-7); // the two turns that stall
  });

  it('adds ω times the credit minus its mean over the rollout’s tokens to the advantage of the rollout', () => {
    const roles = [[a, o, a, a, a], [a, o, a, a, a]]; // prettier-ignore
    const settings = { estimator: 'turn-credit', divideByStd: false, turnGamma: 0, stateWeight: 0.5 } as const;
    const progress = [0.4, 0, 0, 0, 0.8, 0, 0, 0, 0, 0];
    const rewards = [0, 0, 0, 0, 1, 0, 0, 0, 0, 0];
    const got = creditOf(roles, rewards, settings, { groups: [0, 0], progress });
    // scores 1 and 0: ±.5; credit .4 and three times .8, whose mean is .7
    close(got.advantages, [0.35, 0, 0.55, 0.55, 0.55, -0.5, 0, -0.5, -0.5, -0.5], 1e-12);
    const grpo = creditOf(roles, rewards, { ...settings, estimator: 'grpo' }, { groups: [0, 0] }).advantages;
    const sum = (of: Float64Array) => of.slice(0, 5).reduce((s, x) => s + x, 0);
    close([sum(got.advantages)], [sum(grpo)], 1e-12);
    expect(creditOf(roles, rewards, { ...settings, stateWeight: 0 }, { groups: [0, 0], progress }).advantages).toEqual(grpo); // prettier-ignore
  });
});
