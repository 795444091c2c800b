import { describe, expect, it, test } from 'vitest';
import { Purpose, random } from '../../src/base/rng.ts';
import { learningMath } from '../../src/rl/plainLearningMath.ts';
import { openCpuAdaptedPolicy } from '../../src/model/cpu/adapters/cpuAdaptedPolicy.ts';
import { initialAdapters, LINEAR_NAMES } from '../../src/model/loraAdapters.ts';
import type { PolicySpec } from '../../src/model/policy.ts';
import { contextRecords, expectScoresOfDraws, largestDifference, playContexts } from './contextRecords.ts';
import { NAIVE } from './naiveArithmetic.ts';
import { makePolicy, OBJECTIVE, ODD, oddGrammar, sampling } from './policies.ts';
import { randomSource, SMALL } from './textModels.ts';

const V = ODD.vocab_size;
const LENGTH = 40;
const COUNTS = [4, 1, 3];
const FULL = { ...OBJECTIVE, klCoef: 0.05, entropyCoef: 0.02 };

const adapted = async (rows: number, share = true, critic: PolicySpec['critic'] = 'none') => {
  const model = { ...SMALL, value_head: critic === 'shared' };
  const spec = { model, critic, rows, length: LENGTH, minibatchRows: rows };
  const adapters = { rank: 3, alpha: 5, targets: LINEAR_NAMES };
  const options = { seed: 3, reason: '', share, loops: NAIVE.f64 };
  const policy = await openCpuAdaptedPolicy(spec, randomSource(SMALL, 1), adapters, learningMath, options);
  const draw = random(8, Purpose.weights);
  const fresh = initialAdapters(model, adapters, 3);
  policy.writeWeights(new Map([...fresh].map(([name, tensor]) => [name, tensor.map((x) => x + 0.2 * draw.normal())])));
  return policy;
};

describe('contexts of a row', () => {
  it.each([
    ['none', true, false],
    ['none', false, false],
    ['shared', true, false],
    ['separate', true, false],
    ['shared', true, true],
    ['none', false, true],
  ] as const)(
    'are scored and learned as rows of their own: critic %s, beginnings shared %s, adapters %s',
    async (critic, share, adapters) => {
      // prettier-ignore
      const make = (rows: number) =>
      adapters
        ? adapted(rows, share, critic)
        : Promise.resolve(makePolicy({ critic, share, rows, length: LENGTH, loops: NAIVE.f64 }));
      const { joined, apart, rows, places, credit, moved } = contextRecords(V, LENGTH, COUNTS);
      const policies = [
        { policy: await make(COUNTS.length), record: joined, given: credit },
        { policy: await make(rows), record: apart, given: moved },
      ];
      const found = [];
      for (const { policy, record, given } of policies) {
        policy.setGrammar(oddGrammar(policy.model.vocab_size));
        policy.load(record);
        await policy.score(0.7, { reference: false, values: critic !== 'none' });
        const { logprobs, entropies, values } = await policy.report();
        policy.load(record, given);
        const everyRow = Int32Array.from({ length: policy.rows }, (_, row) => row);
        const { total, computedTokens } = await policy.accumulate(everyRow, FULL, 0.7);
        const gradient = [...policy.gradients().values()].flatMap((tensor) => [...tensor]);
        found.push({ logprobs, entropies, values, total, computedTokens, gradient });
      }
      const [a, b] = [found[0]!, found[1]!];
      for (const name of critic === 'none'
        ? (['logprobs', 'entropies'] as const)
        : (['logprobs', 'entropies', 'values'] as const)) {
        // prettier-ignore
        const of = (kind: 'joined' | 'apart', numbers: Float32Array) => places.map((place) => numbers[place[kind]]!);
        expect(largestDifference(of('joined', a[name]), of('apart', b[name]))).toBeLessThan(1e-6);
        expect(places.filter((place) => place.first).map((place) => a[name][place.joined])).toEqual(
          Array(rows).fill(0),
        );
      }
      expect(a.total).toBeCloseTo(b.total, 12);
      expect(largestDifference(a.gradient, b.gradient)).toBeLessThan(1e-7);
      expect(a.computedTokens).toBe(b.computedTokens);
    },
  );

  it.each([1, 3, 30])('draws what scoring recomputes, in chunks of %i', async (chunk) => {
    const policy = makePolicy({ rows: 4, length: LENGTH });
    const played = await playContexts(policy, oddGrammar(V), sampling(), chunk);
    await expectScoresOfDraws(policy, played, sampling().temperature, 1e-4);
    const byAdapters = await adapted(4);
    const grammar = oddGrammar(byAdapters.model.vocab_size);
    await expectScoresOfDraws(byAdapters, await playContexts(byAdapters, grammar, sampling(), chunk), 0.8, 1e-6);
  });

  it('that repeat all before them cost learning no token more than the episode as one context', async () => {
    const turn = (k: number) => [1 + k, 2 + k, 3 + k];
    const contexts = [0, 1, 2, 3].map((k) => Array.from({ length: k + 1 }, (_, j) => turn(j)).flat());
    const run = async (rows: readonly (readonly number[])[], share: boolean) => {
      const policy = makePolicy({ rows: 1, length: LENGTH, share });
      const tokens = new Int32Array(LENGTH);
      tokens.set(rows.flat());
      const lengthSoFar = rows.map((_, k) => rows.slice(0, k).flat().length);
      const contextStarts = Int32Array.from(tokens, (_, t) => lengthSoFar.findLast((start) => start <= t)!);
      const mask = Float32Array.from(tokens, (_, t) => Number(t < rows.flat().length && t > contextStarts[t]!));
      const numbers = new Float32Array(LENGTH).fill(0.1);
      const credit = { oldLogprobs: numbers, refLogprobs: numbers, advantages: numbers, lossMask: mask, valueMask: mask, oldValues: numbers, returns: numbers }; // prettier-ignore
      const roles = Uint8Array.from(tokens, (_, t) => Number(t < rows.flat().length));
      policy.load({ tokens, roles, states: new Uint8Array(LENGTH), contextStarts }, credit);
      const { computedTokens, trainedTokens } = await policy.accumulate(Int32Array.of(0), FULL, 1);
      return [computedTokens, trainedTokens];
    };
    expect(await run([contexts[3]!], true)).toEqual([11, 11]);
    expect(await run(contexts, true)).toEqual([11, 2 + 5 + 8 + 11]);
    expect(await run(contexts, false)).toEqual([26, 26]);
  });
});

test('a reading of a token is of its context: nothing before it is attended to', async () => {
  const { joined, apart } = contextRecords(V, LENGTH, COUNTS);
  const [policy, other] = [
    makePolicy({ rows: COUNTS.length, length: LENGTH }),
    makePolicy({ rows: 8, length: LENGTH }),
  ];
  policy.load(joined);
  other.load(apart);
  const start = joined.contextStarts!.find((at) => at > 0)!; // of the second context
  expect(largestDifference(await policy.nextLogits(0, start + 2), await other.nextLogits(1, 2))).toBe(0);
  const { weights, heads, layers, count } = await policy.attention(0, start + 2);
  expect([heads, layers, count]).toEqual([2, 2, start + 2]);
  const { weights: want } = await other.attention(1, 2);
  for (let head = 0; head < 4; head++) {
    const row = [...weights.subarray(head * count, (head + 1) * count)];
    expect(row).toEqual([...Array<number>(start).fill(0), ...want.subarray(2 * head, 2 * head + 2)]);
  }
  const [logits, wanted] = [await policy.logits(), await other.logits()];
  expect(largestDifference(logits.subarray((start + 1) * V, (start + 2) * V), wanted.subarray((LENGTH + 1) * V, (LENGTH + 2) * V))).toBe(0); // prettier-ignore
});

test('contexts that a row cannot have are refused', async () => {
  const policy = makePolicy({ rows: 1, length: 4 });
  const record = { tokens: new Int32Array(4), roles: new Uint8Array(4).fill(1), states: new Uint8Array(4) };
  expect(() => policy.load({ ...record, contextStarts: Int32Array.of(0, 0, 1, 1) })).toThrow('token 2 of row 0');
  expect(() => policy.load({ ...record, contextStarts: new Int32Array(3) })).toThrow('contextStarts has 3 entries');
  policy.begin(sampling());
  const none = Int32Array.of(0);
  const chunk = { maxTokens: 1, forced: none, forcedCounts: none, forcedRoles: none, states: none, budgets: none };
  await expect(policy.decode({ ...chunk, restarts: Uint8Array.of(1) })).rejects.toThrow('row 0');
});
