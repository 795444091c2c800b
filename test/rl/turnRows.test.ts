import { describe, expect, it } from 'vitest';
import { Role } from '../../src/domain/tokens.ts';
import { random } from '../../src/base/rng.ts';
import { close, creditOf, MASK, off, REWARDS, ROW, VALUES } from './worked.ts';

/** Two episodes, each of whose turns begins with a prompt that shows the past again: 2 turns, then 3 of other lengths. */
const { prompt, action, observation, pad } = Role;
const SHOWN = [
  [prompt, action, action, prompt, prompt, observation, action, pad, pad, pad, pad, pad, pad],
  [prompt, action, prompt, observation, action, action, action, prompt, prompt, observation, action, action, pad],
];
/** The places of the agent's tokens, turn by turn. */
const TURNS = [
  { row: 0, places: [[1, 2], [6]] },
  { row: 1, places: [[1], [4, 5, 6], [10, 11]] },
];

describe('GAE over whole turns', () => {
  it('takes the value before a turn, the sum of its rewards, and gives one advantage to all of its tokens', () => {
    const got = creditOf(ROW, REWARDS, { estimator: 'turn-gae', whiten: false }, { values: VALUES });
    // turn 3: 1 − .7; turn 2: .7 − .5 + .3; turn 1: .1 + .5 − .2 + .5
    close(got.advantages, [0.9, 0.9, 0.9, 0, 0, 0, 0.5, 0.5, 0, 0, 0.3, 0.3], 1e-12);
    close(got.returns, [1.1, 1.1, 1.1, 0, 0, 0, 1, 1, 0, 0, 1, 1], 1e-12);
    const discounted = { estimator: 'turn-gae', whiten: false, turnGamma: 0.5, lambda: 0.5, gamma: 0.1 } as const;
    const { advantages } = creditOf(ROW, REWARDS, discounted, { values: VALUES });
    // turn 3: .3; turn 2: .5·.7 − .5 + .25·.3; turn 1: .1 + .5·.5 − .2 + .25·(−.075)
    close(advantages, [0.13125, 0.13125, 0.13125, 0, 0, 0, -0.075, -0.075, 0, 0, 0.3, 0.3], 1e-12);
  });

  it('whitens over turns, so that a long turn counts once', () => {
    const got = creditOf(ROW, REWARDS, { estimator: 'turn-gae' }, { values: VALUES });
    expect([...got.masks.whiten]).toEqual([1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0]);
    // .9, .5 and .3: mean .566667, standard deviation (n − 1) .305505
    const [a, b, c] = [1.091089, -0.218218, -0.872872] as const;
    close(got.advantages, [a, a, a, 0, 0, 0, b, b, 0, 0, c, c]);
  });

  it('equals Agent-R1’s formula with one row a step, whatever a row shows again', () => {
    const draw = random(11, 3);
    const size = SHOWN.flat().length;
    const [rewards, values] = [0, 1].map(() => Array.from({ length: size }, () => 2 * draw.next() - 1));
    const [turnGamma, lambda] = [0.9, 0.8];
    const got = creditOf(SHOWN, rewards!, { estimator: 'turn-gae', turnGamma, lambda }, { values: values! });
    const want = agentR1(rewards!, values!, turnGamma, lambda);
    close(got.advantages, want.advantages, 1e-7); // Agent-R1 divides by std + 1e-8
    close(got.returns, want.returns, 1e-12);
  });

  it('leaves forced tokens out: the turn begins at its first choice, and their rewards stay in the episode', () => {
    const singles = MASK.map((_, at) => (at === 0 || at === 6 ? 1 : 0));
    const rewards = REWARDS.map((r, at) => (at === 6 ? 0.25 : r));
    const settings = { estimator: 'turn-gae', whiten: false, choicesOnly: true } as const;
    const { advantages } = creditOf(ROW, rewards, settings, { values: VALUES, singles });
    // turn 2 begins at 7 (V .6), turn 1 at 1 (V .3); the forced token at 6 pays the choice before it, in turn 1
    close(advantages, [0, 1.05, 1.05, 0, 0, 0, 0, 0.4, 0, 0, 0.3, 0.3], 1e-12);
  });

  it('with the advantage mask off gives an observation the advantage of the turn before it, with its reward', () => {
    const rewards = REWARDS.map((r, at) => (at === 4 ? 0.5 : r));
    const settings = { estimator: 'turn-gae', whiten: false, masks: off('advantage') } as const;
    const { advantages } = creditOf(ROW, rewards, settings, { values: VALUES });
    close(advantages, [1.4, 1.4, 1.4, 1.4, 1.4, 1.4, 0.5, 0.5, 0.5, 0.5, 0.3, 0.3], 1e-12);
  });
});

describe('a group estimator with rows per turn', () => {
  it('gives an episode’s advantage to each of its rows through that row’s own mask, and counts episodes, not turns', () => {
    const rewards = SHOWN.flat().map(() => 0);
    rewards[2] = 0.5; // a reward in the first turn of episode 1
    rewards[6] = 1.5; // and at its end: score 2
    rewards[13 + 11] = 1; // episode 2: score 1
    const { advantages } = creditOf(SHOWN, rewards, { estimator: 'rloo' }, { groups: [0, 0] });
    // two members, not five: each is compared with the one other
    const want = SHOWN.flatMap((roles, b) => roles.map((role) => (role === action ? (b === 0 ? 1 : -1) : 0)));
    expect([...advantages]).toEqual(want);
  });
});

/** `compute_gae_advantage_return` of Agent-R1 0.1.0 in plain float64, with a row for each turn. */
function agentR1(rewards: readonly number[], values: readonly number[], gamma: number, lambda: number) {
  const width = SHOWN[0]!.length;
  const steps = TURNS.flatMap(({ row, places }) =>
    places.map((turn, k) => {
      const at = turn.map((t) => row * width + t);
      return { row, k, at, reward: at.reduce((sum, i) => sum + rewards[i]!, 0), value: values[at[0]!]! };
    }),
  );
  const advantageOf = (row: number, k: number): number => {
    const step = steps.find((each) => each.row === row && each.k === k);
    if (!step) return 0;
    const next = steps.find((each) => each.row === row && each.k === k + 1);
    return step.reward + gamma * (next?.value ?? 0) - step.value + gamma * lambda * advantageOf(row, k + 1);
  };
  const raw = steps.map(({ row, k }) => advantageOf(row, k));
  const mean = raw.reduce((a, b) => a + b, 0) / raw.length;
  const std = Math.sqrt(raw.reduce((sum, a) => sum + (a - mean) ** 2, 0) / (raw.length - 1));
  const advantages = SHOWN.flat().map(() => 0);
  const returns = SHOWN.flat().map(() => 0);
  for (const [i, { at, value }] of steps.entries())
    for (const place of at) {
      advantages[place] = (raw[i]! - mean) / (std + 1e-8);
      returns[place] = raw[i]! + value;
    }
  return { advantages, returns };
}
