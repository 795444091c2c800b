import { describe, expect, it, test } from 'vitest';
import { weightsHash, type Weights } from '../../src/model/architecture.ts';
import type { CpuPolicy } from '../../src/model/cpu/cpuPolicy.ts';
import type { Batch } from '../../src/model/learning/batchArrays.ts';
import { rowBeginning } from '../../src/model/learning/tokenTree.ts';
import { BackendError } from '../../src/model/policy.ts';
import { Role } from '../../src/domain/tokens.ts';
import {
  CREDIT,
  everyRow,
  loaded,
  makePolicy,
  OBJECTIVE,
  ODD,
  oddGrammar,
  OPTIMIZER,
  randomRecord,
  rollOut,
  sampling,
  someCredit,
} from './policies.ts';

const V = ODD.vocab_size;

test('the beginning of a row is packed as its last context, with its count, tokens and positions; no other count is taken', () => {
  const tokens = Int32Array.of(9, 8, 7, 0, 5, 4, 3, 2);
  const batch = { rows: 2, length: 4, tokens, lengths: Int32Array.of(3, 4), contextStarts: Int32Array.of(0, 0, 0, 0, 0, 0, 2, 2) } as unknown as Batch; // prettier-ignore
  expect(rowBeginning(batch, 1, 2)).toMatchObject({
    count: 2,
    tokens: Int32Array.of(5, 4),
    positions: Int32Array.of(0, 1),
  });
  expect(rowBeginning(batch, 1, 4)).toMatchObject({ count: 2, tokens: Int32Array.of(3, 2), positions: Int32Array.of(0, 1) }); // prettier-ignore
  expect(rowBeginning(batch, 0, 3)).toMatchObject({ count: 3, tokens: Int32Array.of(9, 8, 7), positions: Int32Array.of(0, 1, 2) }); // prettier-ignore
  expect(rowBeginning(batch, 0, 1).count).toBe(1);
  for (const count of [0, 4]) expect(() => rowBeginning(batch, 0, count)).toThrow(RangeError);
});

describe('a step', () => {
  it('right after scoring sees ratio 1: no drift, no clipping', async () => {
    const policy = makePolicy();
    await rollOut(policy, oddGrammar(V), 4);
    await policy.score(0.8, { reference: false, values: true });
    const rewards = new Float32Array(policy.rows * policy.length).map((_, at) => (at % 7 === 0 ? 1 : 0));
    policy.credit({ rewards, groups: new Int32Array(policy.rows) }, { ...CREDIT, estimator: 'grpo' });
    const rows = Int32Array.of(3, 0, 2);
    await policy.learn(rows, { ...OBJECTIVE, klCoef: 0.1 }, OPTIMIZER, 0.8);
    await policy.learn(rows, OBJECTIVE, OPTIMIZER, 0.8);
    const [first, second] = (await policy.report()).steps;
    expect(first).toMatchObject({ approxKl: 0, clipFraction: 0, kl: 0, skipped: '' });
    expect(first!.gradNorm).toBeGreaterThan(0);
    expect(second!.approxKl).not.toBe(0);
  });

  it('with only an entropy bonus raises the entropy', async () => {
    const policy = loaded();
    const record = randomRecord(policy.rows, policy.length, V);
    policy.load(record, someCredit(record, [Role.action], { advantages: new Float32Array(record.tokens.length) }));
    for (let i = 0; i < 3; i++) await policy.learn(everyRow(policy), { ...OBJECTIVE, entropyCoef: 0.1 }, OPTIMIZER, 1);
    const { steps } = await policy.report();
    expect(steps[1]!.entropy).toBeGreaterThan(steps[0]!.entropy);
    expect(steps[2]!.entropy).toBeGreaterThan(steps[1]!.entropy);
  });

  it('with an observation loss predicts observations better, step by step', async () => {
    const policy = loaded();
    const record = randomRecord(policy.rows, policy.length, V);
    policy.load(record);
    await policy.score(1, { reference: false, values: false });
    const bodies = Uint8Array.from(record.roles, (role) => (role === Role.observation ? 1 : 0));
    const input = { rewards: new Float32Array(bodies.length), groups: new Int32Array(policy.rows), bodies };
    policy.credit(input, { ...CREDIT, estimator: 'grpo' });
    const objective = { ...OBJECTIVE, entropyCoef: 0, observationLoss: 1 };
    for (let i = 0; i < 12; i++) await policy.learn(everyRow(policy), objective, OPTIMIZER, 1);
    const { steps } = await policy.report();
    for (const [i, step] of steps.slice(1).entries())
      expect(step.observationLoss).toBeLessThan(steps[i]!.observationLoss);
    expect(steps.at(-1)!.observationLoss).toBeLessThan(0.95 * steps[0]!.observationLoss);
    expect(steps[0]!.total).toBeCloseTo(steps[0]!.observationLoss, 5);
  });

  it.each(['shared', 'separate'] as const)('with a %s critic lowers the value loss', async (critic) => {
    const policy = loaded({ critic });
    for (let i = 0; i < 12; i++) await policy.learn(everyRow(policy), OBJECTIVE, OPTIMIZER, 1);
    const { steps } = await policy.report();
    expect(steps.at(-1)!.valueLoss).toBeLessThan(0.7 * steps[0]!.valueLoss);
  });

  it('leaves the reference where it was frozen, until it is frozen again', async () => {
    const policy = loaded();
    await expect(policy.score(1, { reference: true, values: true })).rejects.toThrow('freezeReference');
    policy.freezeReference();
    await policy.score(1, { reference: true, values: true });
    await policy.learn(everyRow(policy), { ...OBJECTIVE, klCoef: 1 }, OPTIMIZER, 1);
    await policy.score(1, { reference: true, values: true });
    const record = randomRecord(policy.rows, policy.length, V);
    const lossMask = someCredit(record, [Role.action]).lossMask;
    const stats = await policy.accumulate(everyRow(policy), { ...OBJECTIVE, klCoef: 1 }, 1);
    expect(stats.tokens).toBe(lossMask.reduce((a, m) => a + m, 0));
    expect(stats.kl).toBeGreaterThan(0);
    policy.freezeReference();
    await policy.score(1, { reference: true, values: true });
    expect((await policy.accumulate(everyRow(policy), { ...OBJECTIVE, klCoef: 1 }, 1)).kl).toBe(0);
  });
});

describe('a number that is not finite', () => {
  it.each(['model.layers.1.mlp.up_proj.weight', 'model.layers.0.self_attn.k_proj.bias', 'model.norm.weight'])(
    'in %s is named, and the step changes nothing',
    async (name) => {
      const policy = loaded({ critic: 'separate' });
      const { policy: own } = await policy.readState();
      const weights = new Map([...own.weights].map(([n, t]) => [n, t.slice()]));
      weights.get(name)![1] = NaN;
      policy.writeWeights(weights);
      const before = await policy.readState();
      await policy.learn(everyRow(policy), OBJECTIVE, OPTIMIZER, 1);
      const { steps } = await policy.report();
      expect(steps[0]).toMatchObject({ skipped: 'non-finite', culprit: `weight ${name}` });
      expect(await policy.readState()).toEqual(before);
    },
  );

  it('in an advantage is found in a gradient, skips the step, and is forgotten with the batch', async () => {
    const policy = loaded();
    const record = randomRecord(policy.rows, policy.length, V);
    const given = someCredit(record, [Role.action]);
    const before = await policy.readState();
    policy.load(record, { ...given, advantages: given.advantages.map(() => Infinity) });
    await policy.learn(everyRow(policy), OBJECTIVE, OPTIMIZER, 1);
    expect((await policy.report()).steps[0]).toMatchObject({
      skipped: 'non-finite',
      culprit: 'gradient model.embed_tokens.weight',
    });
    expect(await policy.readState()).toEqual(before);
    policy.load(record, given);
    await policy.learn(everyRow(policy), OBJECTIVE, OPTIMIZER, 1);
    expect((await policy.report()).steps[0]!.skipped).toBe('');
    expect((await policy.readState()).policy.steps).toBe(1);
  });
});

describe('the same seed', () => {
  const train = async (chunk: number, updates: number, policy = makePolicy({ critic: 'shared' }), from = 1) => {
    for (let update = from; update < from + updates; update++) {
      const made = await rollOut(policy, oddGrammar(V), chunk, sampling(update));
      await policy.score(0.8, { reference: false, values: true });
      const rewards = new Float32Array(policy.rows * policy.length);
      for (const [b, row] of made.tokens.entries())
        rewards[b * policy.length + made.roles[b]!.lastIndexOf(Role.action)] = row.filter((id) => id === 4).length;
      policy.credit({ rewards, groups: new Int32Array(policy.rows) }, CREDIT);
      await policy.learn(Int32Array.of(0, 2, 4), OBJECTIVE, OPTIMIZER, 0.8);
      await policy.learn(Int32Array.of(1, 3), OBJECTIVE, OPTIMIZER, 0.8);
    }
    return policy;
  };
  const hash = async (policy: CpuPolicy) => weightsHash(policy.model, (await policy.readState()).policy.weights);

  it('gives the same weights after ten updates whatever the chunk size', async () => {
    const want = await hash(await train(1, 10));
    for (const chunk of [3, 8]) expect(await hash(await train(chunk, 10))).toBe(want);
    expect(await hash(makePolicy({ critic: 'shared' }))).not.toBe(want);
  });

  it('goes on bit for bit from a saved state', async () => {
    const want = await hash(await train(4, 6));
    const saved = await (await train(4, 3)).readState();
    const other = makePolicy({ critic: 'shared' });
    other.writeState(saved);
    expect(await hash(await train(4, 3, other, 4))).toBe(want);
  });
});

describe('weights', () => {
  it('written to a policy with a separate critic start the critic from the same trunk and a zero value head', async () => {
    const policy = makePolicy({ critic: 'separate' });
    const weights = (await makePolicy().readState()).policy.weights;
    policy.writeWeights(weights);
    const state = await policy.readState();
    const bytes = (all: Weights, name: string) => [...all.get(name)!];
    expect(bytes(state.critic!.weights, 'model.embed_tokens.weight')).toEqual(
      bytes(weights, 'model.embed_tokens.weight'),
    );
    expect(bytes(state.critic!.weights, 'value_head.weight').every((x) => x === 0)).toBe(true);
    expect(state.critic!.weights.has('lm_head.weight')).toBe(false);
    expect(() => policy.writeWeights(new Map())).toThrow('model.embed_tokens.weight is missing');
  });
});

describe('a run too large for a tab', () => {
  it('is refused before anything is allocated, with the knobs to turn', () => {
    expect(() => makePolicy({ rows: 60_000, length: 1000 })).toThrow(BackendError);
  });
});
