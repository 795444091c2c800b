import { describe, expect, it } from 'vitest';
import type { CpuPolicy } from '../../src/model/cpu/cpuPolicy.ts';
import type { SuppliedCredit } from '../../src/model/policy.ts';
import type { ObjectiveSettings } from '../../src/model/learningSettings.ts';
import { Role } from '../../src/domain/tokens.ts';
import { relativeError } from './golden.ts';
import { MIN_PART_TOKENS } from '../../src/model/learning/tokenTree.ts';
import {
  alikeRecord,
  everyRow,
  loaded,
  makePolicy,
  OBJECTIVE,
  ODD,
  oddGrammar,
  OPTIMIZER,
  randomRecord,
  someCredit,
} from './policies.ts';
import { isWeekly } from '../weekly.ts';
import { NAIVE } from './naiveArithmetic.ts';

const V = ODD.vocab_size;

/** Where a weight is moved: at the first of each tensor and every `step`-th after it. */
const placesIn = (tensors: readonly ArrayLike<number>[], step: number): readonly number[] => {
  let begin = 0;
  return tensors.flatMap(({ length }) => {
    const places = Array.from({ length: Math.ceil(length / step) }, (_, i) => begin + i * step);
    begin += length;
    return places;
  });
};
/** Weekly more of them. */
const STEP = isWeekly ? 7 : 29;

const FULL: ObjectiveSettings = { ...OBJECTIVE, klCoef: 0.05, entropyCoef: 0.02, clipLow: 5, clipHigh: 5, dualClip: 0 };

describe('gradients through the network', () => {
  it.each([
    ['none', false, false],
    ['shared', true, false],
    ['none', false, true],
  ] as const)(
    'are what finite differences of the total find in float64, critic %s, tied %s, norms of heads %s',
    async (critic, tied, qk_norm) => {
      const options = { critic, loops: NAIVE.f64, rows: 3, model: { tie_word_embeddings: tied, qk_norm } } as const;
      const policy = loaded(options, [Role.action, Role.observation]);
      policy.setGrammar(oddGrammar(V));
      const rows = everyRow(policy);
      const total = async () => (await policy.accumulate(rows, FULL, 0.7)).total;
      await total();
      const tensors = [...policy.gradients().values()];
      const gradient = tensors.flatMap((tensor) => [...tensor]);
      const weights = policy.weightPool().policy;
      expect(gradient.length).toBe(weights.length);
      for (const i of placesIn(tensors, STEP)) {
        const kept = weights[i]!;
        weights[i] = kept + 1e-5;
        const up = await total();
        weights[i] = kept - 1e-5;
        const found = (up - (await total())) / 2e-5;
        weights[i] = kept;
        // Gradients are read back as float32; the differences themselves are good to about 1e-9.
        expect(Math.abs(gradient[i]! - found)).toBeLessThan(1e-8 + 1e-6 * Math.abs(found));
      }
    },
  );

  it('of a separate critic are those of the value loss alone, and the total leaves it out', async () => {
    const policy = loaded({ critic: 'separate', loops: NAIVE.f64, rows: 3 });
    const rows = everyRow(policy);
    const first = await policy.accumulate(rows, { ...FULL, valueCoef: 0.1 }, 1);
    expect(first.total).toBeCloseTo(first.policyLoss - 0.02 * first.entropy + 0.05 * first.kl, 12);
    expect(first.criticGradNorm).toBeGreaterThan(0);
    const gradients = policy.gradients();
    const tensors = [...gradients].filter(([name]) => name.startsWith('critic.')).map(([, tensor]) => tensor);
    const gradient = tensors.flatMap((tensor) => [...tensor]);
    const critic = policy.weightPool().critic!;
    expect(gradient.length).toBe(critic.length);
    for (const i of placesIn(tensors, STEP)) {
      const kept = critic[i]!;
      critic[i] = kept + 1e-5;
      const up = (await policy.accumulate(rows, FULL, 1)).valueLoss;
      critic[i] = kept - 1e-5;
      const found = (up - (await policy.accumulate(rows, FULL, 1)).valueLoss) / 2e-5;
      critic[i] = kept;
      expect(Math.abs(gradient[i]! - found)).toBeLessThan(1e-8 + 1e-6 * Math.abs(found));
    }
  });

  it.each(['none', 'shared', 'separate'] as const)(
    'are the same whether a beginning that rows share runs once or in each of them: %s critic',
    async (critic) => {
      const learned = [];
      for (const share of [true, false]) {
        const policy = makePolicy({ critic, share, loops: NAIVE.f64, rows: 8, length: 24 });
        const record = alikeRecord(8, 24, V, 4, 8); // the prompt, and tokens of the agent that all four rows drew
        policy.load(record, someCredit(record, [Role.action]));
        learned.push({ stats: await policy.accumulate(everyRow(policy), FULL, 0.7), gradients: policy.gradients() });
      }
      const [once, each] = learned as [(typeof learned)[0], (typeof learned)[0]];
      // three of four rows don't run the eight tokens again, and one token is shared by chance
      expect(each.stats.computedTokens! - once.stats.computedTokens!).toBe(2 * 3 * 8 + 1);
      expect(each.stats.trainedTokens).toBe(each.stats.computedTokens);
      expect(once.stats.trainedTokens).toBe(each.stats.computedTokens);
      expect(once.stats.total).toBeCloseTo(each.stats.total, 12);
      expect(each.gradients.size).toBeGreaterThan(20);
      for (const [name, tensor] of each.gradients)
        expect(relativeError(once.gradients.get(name)!, tensor), name).toBeLessThan(1e-6);
    },
  );

  it.each([false, true])(
    'in parts that share beginnings, in float32, agree with float64: norms of heads %s',
    async (qk_norm) => {
      const [exact, fast] = [NAIVE.f64, undefined].map((loops) =>
        makePolicy({ critic: 'shared', rows: 24, length: 80, model: { qk_norm }, ...(loops && { loops }) }),
      ) as [CpuPolicy, CpuPolicy];
      const record = alikeRecord(24, 80, V, 3, 20);
      const stats = [];
      for (const policy of [exact, fast]) {
        policy.load(record, someCredit(record, [Role.action]));
        stats.push(await policy.accumulate(everyRow(policy), FULL, 0.7));
      }
      // enough tokens for several parts; few of the 8 · 2 · 20 shared ones run again
      expect(stats[0]!.computedTokens).toBeGreaterThan(2 * MIN_PART_TOKENS);
      expect(stats[0]!.trainedTokens! - stats[0]!.computedTokens!).toBeGreaterThan(160);
      const want = exact.gradients();
      for (const [name, tensor] of fast.gradients())
        expect(relativeError(tensor, want.get(name)!), name).toBeLessThan(2e-5);
    },
  );

  it('do not depend on how the rows are split when the weights of the parts are counted globally', async () => {
    // seq-mean-token-sum over 4 rows is the mean of the same over 2 + 2 and 1 + 1 + 1 + 1.
    const objective = { ...FULL, aggregation: 'seq-mean-token-sum', entropyCoef: 0, valueCoef: 0 } as const;
    const policy = loaded({ rows: 4, loops: NAIVE.f64 });
    const of = async (rows: number[]) => {
      await policy.accumulate(Int32Array.from(rows), objective, 1);
      return [...policy.gradients().values()].flatMap((tensor) => [...tensor]);
    };
    const mean = (parts: number[][]) =>
      parts[0]!.map((_, i) => parts.reduce((a, part) => a + part[i]! / parts.length, 0));
    const whole = await of([0, 1, 2, 3]);
    expect(relativeError(mean([await of([0, 1]), await of([2, 3])]), whole)).toBeLessThan(1e-5);
    expect(relativeError(mean([await of([0]), await of([1]), await of([2]), await of([3])]), whole)).toBeLessThan(1e-5);
    expect(relativeError(await of([3, 1, 0, 2]), whole)).toBeLessThan(1e-5);
  });
});

describe('the loss mask', () => {
  const direct = async (policy: CpuPolicy) => {
    await policy.learn(everyRow(policy), FULL, OPTIMIZER, 1);
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

  it('leaves the gradient untouched by what it hides: other credit at observations, other tokens after the last action', async () => {
    const policy = makePolicy({ rows: 2 });
    const record = randomRecord(2, 17, V);
    const gradient = async (given: SuppliedCredit, tokens = record.tokens) => {
      policy.load({ ...record, tokens }, given);
      await policy.accumulate(everyRow(policy), FULL, 1);
      return policy.gradients();
    };
    const given = someCredit(record, [Role.action]);
    const want = await gradient(given);
    const poison = (x: Float32Array) => x.map((v, at) => (record.roles[at] === Role.action ? v : NaN));
    const dirty = {
      ...given,
      advantages: poison(given.advantages),
      oldLogprobs: poison(given.oldLogprobs),
      returns: poison(given.returns),
    };
    expect(await gradient(dirty)).toEqual(want);
    const last = record.roles.subarray(0, 17).lastIndexOf(Role.action);
    const tokens = record.tokens.map((id, at) => (at > last && at < 17 ? (id + 1) % V : id));
    expect(await gradient(given, tokens)).toEqual(want);
  });

  it('empty, skips the step, Adam’s counter too, and says so', async () => {
    const policy = loaded({}, []);
    const before = await policy.readState();
    await policy.learn(everyRow(policy), FULL, OPTIMIZER, 1);
    const { steps } = await policy.report();
    expect(steps[0]).toMatchObject({ skipped: 'empty', tokens: 0, gradNorm: 0, culprit: '' });
    expect(await policy.readState()).toEqual(before);
  });
});
