import { describe, expect, it } from 'vitest';
import type { CpuPolicy } from '../../src/model/cpu/cpuPolicy.ts';
import type { CreditSettings } from '../../src/model/learningSettings.ts';
import { Role, type TokenRecord } from '../../src/domain/tokens.ts';
import { everyRow, makePolicy, OBJECTIVE, ODD, OPTIMIZER } from '../model/policies.ts';
import { close, PLAIN } from './worked.ts';
import { NAIVE } from '../model/naiveArithmetic.ts';

const V = ODD.vocab_size;
const GRPO: CreditSettings = { ...PLAIN, estimator: 'grpo' };

/** Rows of [id, role], padded on the right with ids of 0. */
function recordOf(length: number, rows: readonly (readonly (readonly [number, number])[])[]): TokenRecord {
  const tokens = new Int32Array(rows.length * length);
  const roles = new Uint8Array(rows.length * length);
  for (const [b, row] of rows.entries()) {
    for (const [t, [id, role]] of row.entries()) {
      tokens[b * length + t] = id;
      roles[b * length + t] = role;
    }
  }
  return { tokens, roles, states: new Uint8Array(rows.length * length) };
}

async function scored(policy: CpuPolicy, record: TokenRecord, temperature = 1) {
  policy.load(record);
  await policy.score(temperature, { reference: false, values: true });
  return policy.report();
}
const prompt = (...ids: number[]) => ids.map((id) => [id, Role.prompt] as const);
const action = (...ids: number[]) => ids.map((id) => [id, Role.action] as const);

describe('alignment', () => {
  const make = (rows = 1) => makePolicy({ rows, length: 6, loops: NAIVE.f64, critic: 'shared' });

  it('with one prompt token and one response token, the response is scored by what the prompt says', async () => {
    const policy = make();
    const report = await scored(policy, recordOf(6, [[...prompt(3), ...action(8)]]), 0.7);
    const z = [...(await policy.logits()).slice(0, V)].map((x) => x / 0.7);
    const norm = Math.log(z.reduce((a, x) => a + Math.exp(x), 0));
    expect(report.logprobs[1]).toBeCloseTo(z[8]! - norm, 6);
    expect(report.logprobs[1]).toBeLessThan(-0.5);
    for (const all of [report.logprobs, report.entropies, report.values]) {
      expect(all[0]).toBe(0);
      expect(all[1]).not.toBe(0);
      expect([...all.slice(2)]).toEqual([0, 0, 0, 0]);
    }
  });

  it('value and entropy of a token do not depend on the token, its log-probability does', async () => {
    const policy = make();
    const one = await scored(policy, recordOf(6, [[...prompt(3), ...action(8)]]));
    const other = await scored(policy, recordOf(6, [[...prompt(3), ...action(9)]]));
    expect(other.values[1]).toBe(one.values[1]);
    expect(other.entropies[1]).toBe(one.entropies[1]);
    expect(other.logprobs[1]).not.toBe(one.logprobs[1]);
    const asked = await scored(policy, recordOf(6, [[...prompt(4), ...action(8)]]));
    expect(asked.values[1]).not.toBe(one.values[1]);
  });

  it('the first response token is scored the same alone and beside rows with longer prompts', async () => {
    const rows = [
      [...prompt(3), ...action(8, 2)],
      [...prompt(1, 2, 3, 4), ...action(5, 6)],
      [...prompt(7, 7), ...action(1)],
    ];
    const together = await scored(make(3), recordOf(6, rows));
    for (const [b, row] of rows.entries()) {
      const alone = await scored(make(), recordOf(6, [row]));
      const first = row.findIndex(([, role]) => role === Role.action);
      expect(alone.logprobs[first]).toBeLessThan(-0.5);
      for (const name of ['logprobs', 'entropies', 'values'] as const) {
        // Rows are packed into one pass; the sums of a token stay its own.
        for (let t = 0; t < 6; t++) expect(together[name][b * 6 + t]).toBeCloseTo(alone[name][t]!, 6);
      }
    }
  });

  it('an id of 0 that the agent drew counts like any other', async () => {
    const policy = make();
    const record = recordOf(6, [[...prompt(3), ...action(0, 0)]]);
    const report = await scored(policy, record);
    expect(report.logprobs[2]).toBeLessThan(-0.5);
    expect([...report.logprobs.slice(3)]).toEqual([0, 0, 0]);
    policy.credit(
      { rewards: Float32Array.of(0, 0, 1, 0, 0, 0), groups: Int32Array.of(0) },
      { ...PLAIN, whiten: false },
    );
    await policy.learn(Int32Array.of(0), OBJECTIVE, OPTIMIZER, 1);
    const after = await policy.report();
    expect([...after.lossMask]).toEqual([0, 1, 1, 0, 0, 0]);
    expect(after.gradWeights[2]).not.toBe(0);
    expect(after.steps[0]!.tokens).toBe(2);
  });
});

describe('a minibatch', () => {
  const rows = [
    [...prompt(3), ...action(8, 2, 5)],
    [...prompt(3), ...action(4)],
    [...prompt(1, 2), ...action(5, 6, 7, 1)],
    [...prompt(1, 2), ...action(9, 9)],
  ];
  const RECORD = recordOf(6, rows);
  const INPUT = {
    rewards: Float32Array.from({ length: 24 }, (_, at) => (at === 3 || at === 21 ? 1 : 0)),
    groups: Int32Array.of(0, 0, 1, 1),
  };
  const make = (size = 4, length = 6) => {
    const policy = makePolicy({ rows: size, length, loops: NAIVE.f64 });
    policy.freezeReference();
    return policy;
  };

  it('the first step of grpo moves the weights though its loss is about 0', async () => {
    const record = recordOf(6, [rows[0]!, [...prompt(3), ...action(4, 4, 4)]]);
    const two = makePolicy({ rows: 2, length: 6, loops: NAIVE.f64 });
    await scored(two, record);
    two.credit({ rewards: Float32Array.of(0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0), groups: Int32Array.of(0, 0) }, GRPO);
    await two.learn(Int32Array.of(0, 1), OBJECTIVE, OPTIMIZER, 1);
    const [step] = (await two.report()).steps;
    expect(Math.abs(step!.policyLoss)).toBeLessThan(1e-7);
    expect(step!.gradNorm).toBeGreaterThan(0.1);
  });

  it('rows that a filter left out have no part in a step', async () => {
    const gradient = async (policy: CpuPolicy, record: TokenRecord, groups: number[], rewards: Float32Array) => {
      await scored(policy, record);
      policy.credit({ rewards, groups: Int32Array.from(groups) }, GRPO);
      const stats = await policy.accumulate(everyRow(policy), OBJECTIVE, 1);
      return { stats, gradients: policy.gradients() };
    };
    const filtered = await gradient(make(), RECORD, [0, 0, -1, -1], INPUT.rewards);
    const alone = await gradient(make(2), recordOf(6, rows.slice(0, 2)), [0, 0], INPUT.rewards.slice(0, 12));
    const { computedTokens, trainedTokens } = alone.stats; // the other rows' activations are held from scoring
    expect({ ...filtered.stats, computedTokens, trainedTokens }).toEqual(alone.stats);
    expect(filtered.gradients).toEqual(alone.gradients);
    expect(alone.stats.tokens).toBe(4);
    expect(alone.stats.gradNorm).toBeGreaterThan(0.1);
  });

  it('a minibatch of nothing but rows that were left out is skipped, and is no step of Adam', async () => {
    const policy = make();
    await scored(policy, RECORD);
    policy.credit({ ...INPUT, groups: Int32Array.of(0, 0, -1, -1) }, GRPO);
    const before = await policy.readState();
    await policy.learn(Int32Array.of(2, 3), OBJECTIVE, OPTIMIZER, 1);
    expect((await policy.report()).steps[0]).toMatchObject({ skipped: 'empty', tokens: 0 });
    expect(await policy.readState()).toEqual(before);
    await policy.learn(Int32Array.of(0, 2), OBJECTIVE, OPTIMIZER, 1);
    expect((await policy.readState()).policy.steps).toBe(1);
  });

  it.each([0.05, 1e6])('Adam sees the gradient times min(1, c/(‖g‖ + 1e-6)) at c = %f', async (maxGradNorm) => {
    const policy = make();
    await scored(policy, RECORD);
    policy.credit(INPUT, GRPO);
    await policy.learn(everyRow(policy), OBJECTIVE, { ...OPTIMIZER, maxGradNorm }, 1);
    const [step] = (await policy.report()).steps;
    const scale = Math.min(1, maxGradNorm / (step!.gradNorm + 1e-6));
    expect(scale < 1).toBe(maxGradNorm < 1);
    const gradient = [...policy.gradients().values()].flatMap((all) => [...all]);
    const first = [...(await policy.readState()).policy.adamM.values()].flatMap((all) => [...all]);
    // The first moment after one step is (1 − β₁)·g; both are read back as float32.
    expect(Math.hypot(...first)).toBeCloseTo(0.1 * scale * step!.gradNorm, 6);
    close(
      first,
      gradient.map((g) => (1 - OPTIMIZER.beta1) * scale * g),
      1e-7,
    );
  });

  it('a separate critic’s gradient is clipped by its own norm, not by the policy’s', async () => {
    const policy = makePolicy({ rows: 4, length: 6, critic: 'separate' });
    await scored(policy, RECORD);
    policy.credit(INPUT, PLAIN);
    const maxGradNorm = 0.01;
    await policy.learn(everyRow(policy), OBJECTIVE, { ...OPTIMIZER, maxGradNorm }, 1);
    const [step] = (await policy.report()).steps;
    const { gradNorm, criticGradNorm } = step!;
    expect(Math.min(gradNorm, criticGradNorm)).toBeGreaterThan(maxGradNorm);
    expect(Math.abs(Math.log(gradNorm / criticGradNorm))).toBeGreaterThan(0.1);
    const state = await policy.readState();
    for (const [network, norm] of [
      [state.policy, gradNorm],
      [state.critic!, criticGradNorm],
    ] as const) {
      // prettier-ignore
      const first = [...network.adamM.values()].flatMap((all) => [...all]);
      // (1 − β₁)·c, whatever the norm was
      expect(Math.hypot(...first)).toBeCloseTo(0.1 * (maxGradNorm / (norm + 1e-6)) * norm, 8);
    }
  });

  it('while only the critic learns, the policy stays bit for bit, its step count too', async () => {
    const policy = makePolicy({ rows: 4, length: 6, critic: 'separate' });
    await scored(policy, RECORD);
    policy.credit(INPUT, PLAIN);
    const before = await policy.readState();
    for (let i = 0; i < 3; i++) await policy.learn(everyRow(policy), OBJECTIVE, { ...OPTIMIZER, criticOnly: true }, 1);
    const after = await policy.readState();
    expect(after.policy).toEqual(before.policy);
    expect(after.critic!.steps).toBe(3);
    expect(after.critic!.weights).not.toEqual(before.critic!.weights);
    await policy.learn(everyRow(policy), OBJECTIVE, OPTIMIZER, 1);
    expect((await policy.readState()).policy.weights).not.toEqual(before.policy.weights);
  });

  it('the old log-probabilities stay those of before the first step, through all epochs', async () => {
    const policy = make();
    const before = await scored(policy, RECORD);
    policy.credit(INPUT, GRPO);
    for (let epoch = 0; epoch < 3; epoch++) await policy.learn(everyRow(policy), OBJECTIVE, OPTIMIZER, 1);
    const after = await policy.report();
    expect(after.logprobs).toEqual(before.logprobs);
    expect(after.steps[0]!.approxKl).toBe(0);
    expect(Math.abs(after.steps[2]!.approxKl)).toBeGreaterThan(1e-4);
    const moved = await scored(policy, RECORD);
    expect(moved.logprobs[1]).not.toBe(before.logprobs[1]);
  });

  it('the reference says the same after many steps', async () => {
    const policy = make();
    const reference = async () => {
      policy.load(RECORD);
      await policy.score(1, { reference: true, values: false });
      return (await policy.report()).refLogprobs;
    };
    const before = await reference();
    policy.credit(INPUT, GRPO);
    for (let i = 0; i < 5; i++) await policy.learn(everyRow(policy), OBJECTIVE, OPTIMIZER, 1);
    expect(await reference()).toEqual(before);
    expect((await policy.report()).logprobs[1]).not.toBe(before[1]);
    expect(before[1]).toBeLessThan(-0.5);
  });

  it('advantages are whitened over the batch: a minibatch finds them as credit left them', async () => {
    const policy = make();
    await scored(policy, RECORD);
    policy.credit(INPUT, { ...PLAIN, estimator: 'reinforce++' });
    const { advantages, lossMask } = await policy.report();
    const kept = [...advantages].filter((_, at) => lossMask[at] === 1);
    expect(kept.reduce((a, x) => a + x, 0)).toBeCloseTo(0, 5);
    await policy.learn(Int32Array.of(0), OBJECTIVE, OPTIMIZER, 1);
    const after = await policy.report();
    expect(after.advantages).toEqual(advantages);
    // At ratio 1 a token's weight is −A/N with the N of the minibatch.
    for (const t of [1, 2, 3]) expect(after.gradWeights[t]).toBeCloseTo(-advantages[t]! / 3, 6);
  });
});
