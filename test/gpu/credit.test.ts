import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { relativeError } from '../../tools/golden/goldenFixture.ts';
import { openGpuPolicy, type GpuPolicy } from '../../src/model/gpu/gpuPolicy.ts';
import { canWhiten, ESTIMATORS, ESTIMATOR_NAMES, usesCritic } from '../../src/config/estimators.ts';
import type { CreditInput } from '../../src/model/policy.ts';
import type { CreditSettings, KlEstimator, MaskSwitches } from '../../src/model/learningSettings.ts';
import { credit } from '../../src/rl/credit.ts';
import { Purpose, random } from '../../src/base/rng.ts';
import { Role } from '../../src/domain/tokens.ts';
import { CREDIT, masks, SMALL, someGrammar, someRecord, specOf } from './policies.ts';

// Float32 against float64. A sum over a row of T = 37 tokens rounds 37 times by 6e-8, and whitening divides by a
// deviation of about the advantages' size. 3e-7 is seen; 1e-4 is what the fixtures allow other hardware too.
const BOUND = 1e-4;
// three interleaved groups, two rows on their own, two out of the batch, a group of equal scores
const GROUPS = Int32Array.of(0, 1, 2, 9, 1, -1, 2, 0, 5, 1, -1, 7, 7);
const SPEC = specOf(SMALL, 'separate', 13, 37);
const SIZE = 13 * 37;

/** A batch no rule helps with: spans of any length, a row without an agent's token, noise in every number. */
function makeBatch() {
  const record = someRecord(SPEC, someGrammar(SMALL.vocab_size));
  for (let t = 0; t < 37; t++) {
    const at = 8 * 37 + t;
    if (record.roles[at] === Role.action) record.roles[at] = Role.observation;
  }
  const draw = random(17, Purpose.environment);
  const noise = (size: number) => Float32Array.from({ length: SIZE }, () => size * draw.normal());
  const oldLogprobs = noise(1);
  const rewards = noise(1).map((x, at) => (record.roles[at]! >= 2 && draw.next() < 0.4 ? x : 0));
  // rows of group 7: the same rewards in reverse, equal but for a rounding of 1.2e-6 that a plain float32 sum makes
  const paid = [12.3, -7.1, 0.7, 9.9, -11.3, 0.1, -3.3];
  for (const b of [11, 12]) {
    const own = Array.from({ length: 37 }, (_, t) => b * 37 + t);
    for (const at of own) rewards[at] = 0;
    const agent = own.filter((at) => record.roles[at] === Role.action);
    for (const [i, reward] of (b === 11 ? paid : paid.toReversed()).entries()) rewards[agent[i]!] = reward;
  }
  const drift = noise(0.5);
  const refLogprobs = oldLogprobs.map((x, i) => x + drift[i]!);
  return { record, oldLogprobs, refLogprobs, values: noise(1), rewards };
}
const BATCH = makeBatch();
/** One of three states for each of the agent's runs of tokens, and none for every fourth, numbered apart in each group. */
const STATES = (() => {
  let run = 0;
  return Int32Array.from(BATCH.record.roles, (role, at) => {
    if (role === Role.action && (at % 37 === 0 || BATCH.record.roles[at - 1] !== Role.action)) run++;
    const group = GROUPS[Math.floor(at / 37)]!;
    return role < 2 || group < 0 || run % 4 === 3 ? -1 : 3 * group + (run % 3);
  });
})();
const PROGRESS = BATCH.rewards.map((reward, at) => (at % 3 === 0 ? 0 : -reward / (1 + (at % 5))));
const SOLVED = Uint8Array.of(1, 0, 0, 1, 1, 1, 0, 1, 1, 0, 1, 0, 1);
const INPUT: CreditInput = {
  rewards: BATCH.rewards,
  groups: GROUPS,
  states: STATES,
  progress: PROGRESS,
  solved: SOLVED,
};
/** Two of three of the agent's tokens, at random: turns of none are among them. */
const SINGLES = (() => {
  const draw = random(31, Purpose.environment);
  return BATCH.record.roles.map((role) => (role === Role.action && draw.next() < 0.67 ? 1 : 0));
})();

/** Words of observations and tokens of untrained turns, at random: on tokens of every role. */
const [BODIES, UNTRAINED] = [41, 43].map((seed) => {
  const draw = random(seed, Purpose.environment);
  return Uint8Array.from({ length: SIZE }, () => (draw.next() < 0.6 ? 1 : 0));
}) as [Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>];

let policy: GpuPolicy;
beforeAll(async () => {
  policy = await openGpuPolicy(navigator.gpu, SPEC, { seed: 1 });
});
afterAll(() => {
  policy.destroy();
});

function load(batch = BATCH, values: Float32Array = batch.values): void {
  const zero = new Float32Array(SIZE);
  policy.load(batch.record, {
    oldLogprobs: batch.oldLogprobs,
    refLogprobs: batch.refLogprobs,
    advantages: zero,
    lossMask: zero,
    valueMask: zero,
    oldValues: values,
    returns: zero,
  });
}

async function both(
  settings: CreditSettings,
  input: CreditInput = INPUT,
  values: Float32Array = BATCH.values,
  batch = BATCH,
) {
  load(batch, values);
  policy.credit(input, settings);
  const got = await policy.report();
  const want = credit({ ...batch, rows: 13, length: 37, roles: BATCH.record.roles, values }, input, settings);
  return { got, want };
}

async function expectEqual(settings: CreditSettings, input: CreditInput = INPUT): Promise<void> {
  const { got, want } = await both(settings, input);
  const said = JSON.stringify(settings);
  const MASKS = [
    ['policy', 'lossMask'],
    ['regularizer', 'regularizerMask'],
    ['value', 'valueMask'],
    ['advantage', 'advantageMask'],
    ['whiten', 'whitenMask'],
    ['observation', 'observationMask'],
  ] as const;
  for (const [mask, table] of MASKS) expect(got[table], `${mask} ${said}`).toEqual(want.masks[mask]);
  for (const table of ['rewards', 'advantages', 'returns'] as const) {
    expect(relativeError(got[table], want[table]), `${table} ${said}`).toBeLessThanOrEqual(BOUND);
  }
}

test('KL in the reward has the float64 oracle’s bounds where the policies are far apart: only k3 ends, at 10', async () => {
  // log π_ref − log π at the first of the agent's tokens
  const apart = [100, -100, 25, -25, 2.7, -11.5, 2.5, -10.5];
  const agent = Array.from(BATCH.record.roles, (role, at) => (role === Role.action ? at : -1)).filter((at) => at >= 0);
  const at = agent.slice(0, apart.length);
  const refLogprobs = BATCH.refLogprobs.slice();
  for (const [i, token] of at.entries()) refLogprobs[token] = BATCH.oldLogprobs[token]! + apart[i]!;
  for (const klEstimator of ['k1', 'k2', 'k3'] satisfies KlEstimator[]) {
    const settings = { ...CREDIT, klCoef: 0.3, klEstimator };
    const { got, want } = await both(settings, INPUT, BATCH.values, { ...BATCH, refLogprobs });
    // float32 rounds 5000 of k2 by 2.4e-4, and the log-probabilities before it
    for (const token of at) {
      const room = 1e-5 * Math.max(1, Math.abs(want.rewards[token]!));
      expect(Math.abs(got.rewards[token]! - want.rewards[token]!), klEstimator).toBeLessThanOrEqual(room);
    }
  }
});

const SWITCHES = Object.keys(masks(true)) as (keyof MaskSwitches)[];

describe.each(ESTIMATOR_NAMES)('%s on the device equals the float64 oracle', (estimator) => {
  const base: CreditSettings = { ...CREDIT, estimator };

  test('with every mask switch alone off, all on and all off', async () => {
    for (const on of [true, false]) await expectEqual({ ...base, masks: masks(on), klCoef: 0.1 });
    for (const name of SWITCHES) {
      await expectEqual({ ...base, klCoef: 0.1, masks: { ...masks(true), [name]: false } });
      await expectEqual({ ...base, klCoef: 0.1, masks: { ...masks(false), [name]: true } });
    }
  });

  test('with choices of one left out of every mask, on agent tokens only and on all', async () => {
    for (const on of [true, false]) {
      for (const remask of [true, false]) {
        const settings = { ...base, klCoef: 0.1, remask, masks: masks(on), choicesOnly: true };
        await expectEqual(settings, { ...INPUT, singles: SINGLES });
        const { got } = await both(settings, { ...INPUT, singles: SINGLES });
        expect(got.lossMask.some((inside, at) => inside !== 0 && SINGLES[at] === 1)).toBe(false);
      }
    }
    // neither named nor asked for, they count as before
    await expectEqual({ ...base, choicesOnly: true });
    await expectEqual(base, { ...INPUT, singles: SINGLES });
  });

  test('with words of observations to predict and turns left out of the loss, beside choices of one', async () => {
    for (const policyMask of [true, false]) {
      const settings = { ...base, klCoef: 0.1, masks: { ...masks(policyMask), policy: policyMask } };
      const input = { ...INPUT, bodies: BODIES, untrained: UNTRAINED };
      await expectEqual(settings, input);
      await expectEqual({ ...settings, choicesOnly: true }, { ...input, singles: SINGLES });
      const { got } = await both(settings, input);
      expect(got.observationMask.reduce((sum, m) => sum + m, 0) > 30).toBe(policyMask);
      expect(got.lossMask.some((inside, at) => inside !== 0 && UNTRAINED[at] === 1)).toBe(false);
    }
  });

  test('with KL in the reward, by each estimate, on agent tokens only and on all', async () => {
    for (const klEstimator of ['k1', 'k2', 'k3'] satisfies KlEstimator[]) {
      for (const klReward of [true, false]) {
        await expectEqual({ ...base, klCoef: 0.3, klEstimator, masks: { ...masks(true), klReward } });
      }
    }
  });

  test('with and without whitening, with and without masking after it, scaled and not', async () => {
    for (const whiten of [true, false]) {
      for (const remask of [true, false]) {
        for (const scale of [1, 0.25]) {
          for (const on of [true, false]) {
            const switches = { ...masks(on), whiten: !on };
            await expectEqual({ ...base, whiten, remask, scale, divideByStd: on, masks: switches });
          }
        }
      }
    }
  });

  test('rows out of the batch have no mask, no advantage and no part in any statistic', async () => {
    const paid = BATCH.rewards.map((r, at) => (GROUPS[Math.floor(at / 37)]! < 0 ? 1e6 : r));
    const { got } = await both({ ...base, remask: false, masks: masks(false) }, { ...INPUT, rewards: paid });
    const { got: plain } = await both({ ...base, remask: false, masks: masks(false) });
    for (const table of ['advantages', 'returns', 'lossMask', 'regularizerMask', 'valueMask', 'whitenMask'] as const) {
      expect(got[table]).toEqual(plain[table]);
      for (const b of [5, 10])
        expect(new Set(got[table].subarray(b * 37, b * 37 + 37).map(Math.abs))).toEqual(new Set([0]));
    }
    const nobody = { ...INPUT, groups: new Int32Array(13).fill(-1) };
    expect(new Set((await both(base, nobody)).got.advantages.map(Math.abs))).toEqual(new Set([0]));
  });

  test('NaN where no mask reaches leaks nowhere', async () => {
    const outside = (at: number) => BATCH.record.roles[at] !== Role.action;
    const broken = (table: Float32Array) => table.map((x, at) => (outside(at) ? NaN : x));
    const clean = await both({ ...base, klCoef: 0.1 });
    const rewards = broken(BATCH.rewards);
    const { got } = await both({ ...base, klCoef: 0.1 }, { ...INPUT, rewards }, broken(BATCH.values));
    expect(got.advantages).toEqual(clean.got.advantages);
    expect(got.returns).toEqual(clean.got.returns);
  });
});

test('scores equal but for rounding, and a group of one, give exactly 0 on the device', async () => {
  for (const estimator of ['grpo', 'rloo', 'reinforce++-baseline'] as const) {
    const { got } = await both({ ...CREDIT, estimator, whiten: false });
    for (const b of [3, 11, 12]) expect(new Set(got.advantages.subarray(b * 37, b * 37 + 37))).toEqual(new Set([0]));
    expect(got.advantages.some((a) => a !== 0)).toBe(true);
  }
});

test('an advantage that is 0 but for rounding is 0 on the device: its sign would say that the token is clipped', async () => {
  const ownTokens = (b: number) =>
    Array.from({ length: 37 }, (_, t) => b * 37 + t).filter((at) => BATCH.record.roles[at] === Role.action);
  const signs = (table: ArrayLike<number>) => Array.from(table, (x) => Math.sign(x) + 0);
  // scores paid at several tokens; in each group of four, two rows score the mean of all
  const groups = Int32Array.from({ length: 13 }, (_, b) => (b < 8 ? Math.floor(b / 4) : -1));
  const shares = [1.1, 0.1, 0.6, 0.6];
  const rewards = new Float32Array(SIZE);
  for (let b = 0; b < 8; b++) {
    const own = ownTokens(b);
    for (const at of own) rewards[at] = (shares[b % 4]! * (b < 4 ? 1 : 1234.567)) / own.length;
  }
  for (const estimator of ['grpo', 'rloo', 'reinforce++-baseline'] as const) {
    const { got, want } = await both({ ...CREDIT, estimator, whiten: false }, { rewards, groups });
    for (const { advantages } of [got, want]) {
      expect([0, 1, 2, 3, 4, 5, 6, 7].map((b) => signs(advantages)[ownTokens(b)[0]!]), estimator).toEqual([1, -1, 0, 0, 1, -1, 0, 0]); // prettier-ignore
    }
  }
  // whitened: two rows are paid as much above and below the others as their tokens leave the mean where it is
  const four = Int32Array.from({ length: 13 }, (_, b) => (b < 4 ? 0 : -1));
  const settings: CreditSettings = { ...CREDIT, estimator: 'reinforce++', gamma: 1 };
  for (const paid of [0.1, 0.3, 0.7, 1.1, 1.9]) {
    const ends = new Float32Array(SIZE);
    for (const [b, more] of [2, -2, 0, 0].entries()) ends[ownTokens(b).at(-1)!] = paid + more / ownTokens(b).length;
    const { got, want } = await both(settings, { rewards: ends, groups: four });
    for (const { advantages } of [got, want]) {
      expect([0, 1, 2, 3].map((b) => signs(advantages)[ownTokens(b)[0]!])).toEqual([1, -1, 0, 0]);
    }
  }
});

test('group ids count, not places: rows shuffled with their ids have their advantages shuffled', async () => {
  const order = random(23, Purpose.shuffle).shuffle(Int32Array.from(GROUPS, (_, b) => b));
  const shuffled = <T extends Float32Array | Int32Array | Uint8Array>(table: T, width = 37) =>
    table.map((_, at) => table[order[Math.floor(at / width)]! * width + (at % width)]!) as T;
  const { record, rewards, oldLogprobs, refLogprobs, values } = BATCH;
  for (const estimator of ESTIMATOR_NAMES) {
    const settings: CreditSettings = { ...CREDIT, estimator, klCoef: 0.1 };
    const { got } = await both(settings);
    const roles = shuffled(record.roles);
    load({
      record: { ...record, roles },
      rewards,
      oldLogprobs: shuffled(oldLogprobs),
      refLogprobs: shuffled(refLogprobs),
      values: shuffled(values),
    });
    const input = { rewards: shuffled(rewards), groups: shuffled(GROUPS, 1), states: shuffled(STATES) };
    policy.credit({ ...input, progress: shuffled(PROGRESS), solved: shuffled(SOLVED, 1) }, settings);
    const other = await policy.report();
    // the same sums in another order
    expect(relativeError(other.advantages, shuffled(got.advantages)), estimator).toBeLessThanOrEqual(1e-5);
  }
});

test('whitening equal advantages gives exactly 0, and so does a mask of one token or none', async () => {
  const roles = BATCH.record.roles;
  const settings: CreditSettings = { ...CREDIT, estimator: 'reinforce++', gamma: 1 };
  // the last token of each row pays the same, so every reward to go is that
  const last = (b: number) =>
    Array.from({ length: 37 }, (_, t) => b * 37 + t).findLast((at) => roles[at] === Role.action);
  const rewards = new Float32Array(SIZE);
  for (let b = 0; b < 13; b++) {
    const at = last(b);
    if (at !== undefined) rewards[at] = 0.3;
  }
  const groups = new Int32Array(13);
  const { got } = await both(settings, { rewards, groups });
  expect(new Set(got.advantages)).toEqual(new Set([0]));
  expect(got.returns.some((r) => r === Math.fround(0.3))).toBe(true);
  const only = Int32Array.from({ length: 13 }, (_, b) => (b === 8 ? 0 : -1)); // no agent token there
  expect(new Set((await both(settings, { rewards, groups: only })).got.advantages)).toEqual(new Set([0]));
});

test('turns without a reward stay turns on the device, and a KL in the reward makes no new ones', async () => {
  const rewards = new Float32Array(SIZE);
  rewards[BATCH.record.roles.indexOf(Role.action)] = 1; // in the middle of a turn at best
  for (const klCoef of [0, 0.2]) {
    await expectEqual({ ...CREDIT, estimator: 'bi-level-gae', klCoef, whiten: false }, { rewards, groups: GROUPS });
  }
});

test('every estimator is switched to and from without a buffer, bind group or pipeline, in 4 dispatches, 6 with whitening or states', async () => {
  const WHITENED = ESTIMATOR_NAMES.filter(canWhiten);
  load();
  const start = policy.counters();
  for (const estimator of [...ESTIMATOR_NAMES, ...ESTIMATOR_NAMES.toReversed()]) {
    for (const whiten of [true, false]) {
      const before = policy.counters();
      policy.credit(INPUT, { ...CREDIT, estimator, whiten, klCoef: 0.1 });
      const after = policy.counters();
      const isLong = (whiten && WHITENED.includes(estimator)) || ESTIMATORS[estimator].advantageKind === 'group-turns';
      expect(after.dispatches - before.dispatches).toBe(isLong ? 6 : 4);
      expect(after.submits - before.submits).toBe(1);
    }
    const { valueMask } = await policy.report();
    expect(valueMask.includes(1)).toBe(usesCritic(estimator));
  }
  expect(policy.counters().creations).toBe(start.creations);
});
