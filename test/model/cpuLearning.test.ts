import { describe, expect, it } from 'vitest';
import { weightsHash, type Weights } from '../../src/model/architecture.ts';
import type { CpuPolicy } from '../../src/model/cpu/policy.ts';
import { BackendError, type GivenCredit, type ObjectiveSettings } from '../../src/model/policy.ts';
import { Purpose, random } from '../../src/rng.ts';
import { Role, type TokenRecord } from '../../src/tokens.ts';
import { relativeError } from './golden.ts';
import {
  CREDIT,
  everyRow,
  makePolicy,
  OBJECTIVE,
  ODD,
  oddGrammar,
  OPTIMIZER,
  randomRecord,
  rollOut,
  sampling,
} from './policies.ts';

const V = ODD.vocab_size;

/** Random credit with the masks of the given roles. */
function someCredit(record: TokenRecord, lossRoles: number[], change: Partial<GivenCredit> = {}): GivenCredit {
  const draw = random(9, Purpose.environment);
  const size = record.tokens.length;
  const numbers = (shift: number) => Float32Array.from({ length: size }, () => shift + 0.3 * draw.normal());
  const mask = Float32Array.from(record.roles, (role) => (lossRoles.includes(role) ? 1 : 0));
  return {
    oldLogprobs: numbers(-2.5),
    refLogprobs: numbers(-2.5),
    advantages: numbers(0),
    oldValues: numbers(0),
    returns: numbers(0.5),
    lossMask: mask,
    valueMask: mask,
    ...change,
  };
}

function loaded(options: Parameters<typeof makePolicy>[0] = {}, lossRoles: number[] = [Role.action]): CpuPolicy {
  const policy = makePolicy(options);
  const record = randomRecord(policy.rows, policy.length, V);
  policy.load(record, someCredit(record, lossRoles));
  return policy;
}

const FULL: ObjectiveSettings = { ...OBJECTIVE, klCoef: 0.05, entropyCoef: 0.02, clipLow: 5, clipHigh: 5, dualClip: 0 };

describe('gradients through the network', () => {
  it.each([
    ['none', false],
    ['shared', true],
  ] as const)('are what finite differences of the total find in float64, critic %s, tied %s', (critic, tied) => {
    const options = { critic, precision: 'f64', rows: 3, model: { tie_word_embeddings: tied } } as const;
    const policy = loaded(options, [Role.action, Role.observation]);
    policy.setGrammar(oddGrammar(V));
    const rows = everyRow(policy);
    const total = () => policy.accumulate(rows, FULL, 0.7).total;
    total();
    const gradient = [...policy.gradients().values()].flatMap((tensor) => [...tensor]);
    const weights = policy.weightPool().policy;
    expect(gradient.length).toBe(weights.length);
    for (let i = 0; i < weights.length; i += 7) {
      const kept = weights[i]!;
      weights[i] = kept + 1e-5;
      const up = total();
      weights[i] = kept - 1e-5;
      const found = (up - total()) / 2e-5;
      weights[i] = kept;
      // Gradients are read back as float32; the differences themselves are good to about 1e-9.
      expect(Math.abs(gradient[i]! - found)).toBeLessThan(1e-8 + 1e-6 * Math.abs(found));
    }
  });

  it('of a separate critic are those of the value loss alone, and the total leaves it out', () => {
    const policy = loaded({ critic: 'separate', precision: 'f64', rows: 3 });
    const rows = everyRow(policy);
    const first = policy.accumulate(rows, { ...FULL, valueCoef: 0.1 }, 1);
    expect(first.total).toBeCloseTo(first.policyLoss - 0.02 * first.entropy + 0.05 * first.kl, 12);
    expect(first.criticGradNorm).toBeGreaterThan(0);
    const gradients = policy.gradients();
    const gradient = [...gradients].filter(([name]) => name.startsWith('critic.')).flatMap(([, tensor]) => [...tensor]);
    const critic = policy.weightPool().critic!;
    expect(gradient.length).toBe(critic.length);
    for (let i = 0; i < critic.length; i += 11) {
      const kept = critic[i]!;
      critic[i] = kept + 1e-5;
      const up = policy.accumulate(rows, FULL, 1).valueLoss;
      critic[i] = kept - 1e-5;
      const found = (up - policy.accumulate(rows, FULL, 1).valueLoss) / 2e-5;
      critic[i] = kept;
      expect(Math.abs(gradient[i]! - found)).toBeLessThan(1e-8 + 1e-6 * Math.abs(found));
    }
  });

  it('do not depend on how the rows are split when the weights of the parts are counted globally', () => {
    // seq-mean-token-sum over 4 rows is the mean of the same over 2 + 2 and 1 + 1 + 1 + 1.
    const objective = { ...FULL, aggregation: 'seq-mean-token-sum', entropyCoef: 0, valueCoef: 0 } as const;
    const policy = loaded({ rows: 4, precision: 'f64' });
    const of = (rows: number[]) => {
      policy.accumulate(Int32Array.from(rows), objective, 1);
      return [...policy.gradients().values()].flatMap((tensor) => [...tensor]);
    };
    const mean = (parts: number[][]) =>
      parts[0]!.map((_, i) => parts.reduce((a, part) => a + part[i]! / parts.length, 0));
    const whole = of([0, 1, 2, 3]);
    expect(relativeError(mean([of([0, 1]), of([2, 3])]), whole)).toBeLessThan(1e-5);
    expect(relativeError(mean([of([0]), of([1]), of([2]), of([3])]), whole)).toBeLessThan(1e-5);
    expect(relativeError(of([3, 1, 0, 2]), whole)).toBeLessThan(1e-5);
  });
});

describe('the loss mask', () => {
  const direct = (policy: CpuPolicy) => {
    policy.learn(everyRow(policy), FULL, OPTIMIZER, 1);
    return policy.report();
  };

  it('keeps observation tokens out of the loss, exactly', async () => {
    const policy = loaded();
    const { roles } = randomRecord(policy.rows, policy.length, V);
    const report = await direct(policy);
    for (const [at, role] of roles.entries()) if (role !== Role.action) expect(report.gradWeights[at]).toBe(0);
    expect(report.gradWeights.some((g) => g !== 0)).toBe(true);
  });

  it('off, trains on them and counts them', async () => {
    const policy = loaded({}, [Role.action, Role.observation]);
    const { roles } = randomRecord(policy.rows, policy.length, V);
    const report = await direct(policy);
    for (const [at, role] of roles.entries()) if (role === Role.observation) expect(report.gradWeights[at]).not.toBe(0);
    expect(report.steps[0]!.tokens).toBe(roles.filter((r) => r === Role.action || r === Role.observation).length);
  });

  it('leaves the gradient untouched by what it hides: other credit at observations, other tokens after the last action', () => {
    const policy = makePolicy({ rows: 2 });
    const record = randomRecord(2, 17, V);
    const gradient = (given: GivenCredit, tokens = record.tokens) => {
      policy.load({ ...record, tokens }, given);
      policy.accumulate(everyRow(policy), FULL, 1);
      return policy.gradients();
    };
    const given = someCredit(record, [Role.action]);
    const want = gradient(given);
    const poison = (x: Float32Array) => x.map((v, at) => (record.roles[at] === Role.action ? v : NaN));
    const dirty = {
      ...given,
      advantages: poison(given.advantages),
      oldLogprobs: poison(given.oldLogprobs),
      returns: poison(given.returns),
    };
    expect(gradient(dirty)).toEqual(want);
    const last = record.roles.subarray(0, 17).lastIndexOf(Role.action);
    const tokens = record.tokens.map((id, at) => (at > last && at < 17 ? (id + 1) % V : id));
    expect(gradient(given, tokens)).toEqual(want);
  });

  it('empty, skips the step and says so', async () => {
    const policy = loaded({}, []);
    const before = await policy.readState();
    policy.learn(everyRow(policy), FULL, OPTIMIZER, 1);
    const { steps } = await policy.report();
    expect(steps[0]).toMatchObject({ skipped: 'empty', tokens: 0, gradNorm: 0, culprit: '' });
    expect(await policy.readState()).toEqual(before);
  });
});

describe('a step', () => {
  it('right after scoring sees ratio 1: no drift, no clipping', async () => {
    const policy = makePolicy();
    await rollOut(policy, oddGrammar(V), 4);
    policy.score(0.8, false);
    const rewards = new Float32Array(policy.rows * policy.length).map((_, at) => (at % 7 === 0 ? 1 : 0));
    policy.credit(rewards, new Int32Array(policy.rows), { ...CREDIT, estimator: 'grpo' });
    const rows = Int32Array.of(3, 0, 2);
    policy.learn(rows, { ...OBJECTIVE, klCoef: 0.1 }, OPTIMIZER, 0.8);
    policy.learn(rows, OBJECTIVE, OPTIMIZER, 0.8);
    const [first, second] = (await policy.report()).steps;
    expect(first).toMatchObject({ approxKl: 0, clipFraction: 0, kl: 0, skipped: '' });
    expect(first!.gradNorm).toBeGreaterThan(0);
    expect(second!.approxKl).not.toBe(0);
  });

  it('with only an entropy bonus raises the entropy', async () => {
    const policy = loaded();
    const record = randomRecord(policy.rows, policy.length, V);
    policy.load(record, someCredit(record, [Role.action], { advantages: new Float32Array(record.tokens.length) }));
    for (let i = 0; i < 3; i++) policy.learn(everyRow(policy), { ...OBJECTIVE, entropyCoef: 0.1 }, OPTIMIZER, 1);
    const { steps } = await policy.report();
    expect(steps[1]!.entropy).toBeGreaterThan(steps[0]!.entropy);
    expect(steps[2]!.entropy).toBeGreaterThan(steps[1]!.entropy);
  });

  it.each(['shared', 'separate'] as const)('with a %s critic lowers the value loss', async (critic) => {
    const policy = loaded({ critic });
    for (let i = 0; i < 12; i++) policy.learn(everyRow(policy), OBJECTIVE, OPTIMIZER, 1);
    const { steps } = await policy.report();
    expect(steps.at(-1)!.valueLoss).toBeLessThan(0.7 * steps[0]!.valueLoss);
  });

  it('leaves the reference where it was frozen, until it is frozen again', () => {
    const policy = loaded();
    expect(() => policy.score(1, true)).toThrow('freezeReference');
    policy.freezeReference();
    policy.score(1, true);
    policy.learn(everyRow(policy), { ...OBJECTIVE, klCoef: 1 }, OPTIMIZER, 1);
    policy.score(1, true);
    const record = randomRecord(policy.rows, policy.length, V);
    const lossMask = someCredit(record, [Role.action]).lossMask;
    const stats = policy.accumulate(everyRow(policy), { ...OBJECTIVE, klCoef: 1 }, 1);
    expect(stats.tokens).toBe(lossMask.reduce((a, m) => a + m, 0));
    expect(stats.kl).toBeGreaterThan(0);
    policy.freezeReference();
    policy.score(1, true);
    expect(policy.accumulate(everyRow(policy), { ...OBJECTIVE, klCoef: 1 }, 1).kl).toBe(0);
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
      policy.learn(everyRow(policy), OBJECTIVE, OPTIMIZER, 1);
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
    policy.learn(everyRow(policy), OBJECTIVE, OPTIMIZER, 1);
    expect((await policy.report()).steps[0]).toMatchObject({
      skipped: 'non-finite',
      culprit: 'gradient model.embed_tokens.weight',
    });
    expect(await policy.readState()).toEqual(before);
    policy.load(record, given);
    policy.learn(everyRow(policy), OBJECTIVE, OPTIMIZER, 1);
    expect((await policy.report()).steps[0]!.skipped).toBe('');
    expect((await policy.readState()).policy.steps).toBe(1);
  });
});

describe('the same seed', () => {
  const train = async (chunk: number, updates: number, policy = makePolicy({ critic: 'shared' }), from = 1) => {
    for (let update = from; update < from + updates; update++) {
      const made = await rollOut(policy, oddGrammar(V), chunk, sampling(update));
      policy.score(0.8, false);
      const rewards = new Float32Array(policy.rows * policy.length);
      for (const [b, row] of made.tokens.entries())
        rewards[b * policy.length + made.roles[b]!.lastIndexOf(Role.action)] = row.filter((id) => id === 4).length;
      policy.credit(rewards, new Int32Array(policy.rows), CREDIT);
      policy.learn(Int32Array.of(0, 2, 4), OBJECTIVE, OPTIMIZER, 0.8);
      policy.learn(Int32Array.of(1, 3), OBJECTIVE, OPTIMIZER, 0.8);
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
