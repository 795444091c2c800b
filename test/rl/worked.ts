import { expect } from 'vitest';
import type { CreditSettings, MaskSwitches } from '../../src/model/learningSettings.ts';
import { credit } from '../../src/rl/credit.ts';
import { Role } from '../../src/domain/tokens.ts';

/** One row of twelve response tokens: three turns of the agent, two observations between them. */
export const MASK = [1, 1, 1, 0, 0, 0, 1, 1, 0, 0, 1, 1];
export const REWARDS = [0, 0, 0.1, 0, 0, 0, 0, 0, 0, 0, 0, 1];
export const VALUES = [0.2, 0.3, 0.4, 0.9, 0.9, 0.9, 0.5, 0.6, 0.9, 0.9, 0.7, 0.8];
export const SHAPE = { rows: 1, length: 12 };
export const ALL = MASK.map(() => 1);

/** Half a unit of the sixth digit, in which worked numbers are printed, and a little for the rounding of the sums. */
const PRINTED = 6e-7;

/** Expects every entry of `got` within `tolerance` of `want`. */
export function close(got: ArrayLike<number>, want: readonly number[], tolerance = PRINTED): void {
  expect(got.length).toBe(want.length);
  for (const [i, x] of want.entries()) {
    expect(Math.abs(got[i]! - x), `entry ${i}: ${got[i]} for ${x}`).toBeLessThan(tolerance);
  }
}

/** Every mask holds agent tokens only. */
export const ON: MaskSwitches = {
  advantage: true,
  whiten: true,
  value: true,
  klReward: true,
  policy: true,
  regularizer: true,
};
/** GAE without discount, whitened, without KL. */
export const PLAIN: CreditSettings = {
  estimator: 'gae',
  gamma: 1,
  lambda: 1,
  turnGamma: 1,
  stateWeight: 1,
  divideByStd: true,
  whiten: true,
  remask: true,
  klCoef: 0,
  klEstimator: 'k1',
  scale: 1,
  trainTurns: 'all',
  choicesOnly: false,
  masks: ON,
};

/** A batch of rows of roles; what is not given is 0, and every row its own group of one unless said. */
export function creditOf(
  roles: readonly (readonly number[])[],
  rewards: readonly number[],
  change: Partial<CreditSettings> = {},
  given: {
    readonly values?: readonly number[];
    readonly old?: readonly number[];
    readonly reference?: readonly number[];
    readonly groups?: readonly number[];
    readonly singles?: ArrayLike<number>;
    readonly bodies?: ArrayLike<number>;
    readonly untrained?: ArrayLike<number>;
    readonly states?: ArrayLike<number>;
    readonly progress?: ArrayLike<number>;
    readonly solved?: ArrayLike<number>;
  } = {},
) {
  const flat = Uint8Array.from(roles.flat());
  const zeros = [...flat].map(() => 0);
  return credit(
    {
      rows: roles.length,
      length: roles[0]!.length,
      roles: flat,
      values: given.values ?? zeros,
      oldLogprobs: given.old ?? zeros,
      refLogprobs: given.reference ?? zeros,
    },
    {
      // Float64, so that the digits of the worked numbers are not rounded a second time.
      rewards: Float64Array.from(rewards) as unknown as Float32Array,
      groups: Int32Array.from(given.groups ?? roles.map((_, b) => b)),
      ...(given.singles && { singles: Uint8Array.from(given.singles) }),
      ...(given.bodies && { bodies: Uint8Array.from(given.bodies) }),
      ...(given.untrained && { untrained: Uint8Array.from(given.untrained) }),
      ...(given.states && { states: Int32Array.from(given.states) }),
      ...(given.progress && { progress: Float64Array.from(given.progress) as unknown as Float32Array }),
      ...(given.solved && { solved: Uint8Array.from(given.solved) }),
    },
    { ...PLAIN, ...change },
  );
}

/** The roles of the worked row. */
export const ROW = [MASK.map((m) => (m === 1 ? Role.action : Role.observation))];
/** All masks but the named ones hold agent tokens only. */
export const off = (...names: (keyof MaskSwitches)[]) => ({
  ...ON,
  ...Object.fromEntries(names.map((name) => [name, false])),
});
