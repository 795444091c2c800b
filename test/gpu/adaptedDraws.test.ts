import { afterAll, describe, expect, test } from 'vitest';
import { firstRows, isWeekly } from '../weekly.ts';
import { Role, type Grammar } from '../../src/domain/tokens.ts';
import { initialAdapters, type AdapterConfig, LINEAR_NAMES } from '../../src/model/loraAdapters.ts';
import { openCpuAdaptedPolicy } from '../../src/model/cpu/adapters/cpuAdaptedPolicy.ts';
import type { DecodeChunk, Sampling } from '../../src/model/decoding.ts';
import { openGpuAdaptedPolicy } from '../../src/model/gpu/adapters/openGpuAdaptedPolicy.ts';
import type { Policy } from '../../src/model/policy.ts';
import { learningMath } from '../../src/rl/plainLearningMath.ts';
import { Purpose, random } from '../../src/base/rng.ts';
import { oddGrammar, rollOut, sampling } from '../model/policies.ts';
import { NAIVE } from '../model/naiveArithmetic.ts';
import * as models from './textModels.ts';
import { packedSource } from './textSources.ts';

const LLAMA = { ...models.LLAMA, vocab_size: 44 };
const V = LLAMA.vocab_size;
const ADAPTERS: AdapterConfig = { rank: 3, alpha: 5, targets: LINEAR_NAMES };
const LENGTH = 17;
const ROWS = 66; // two more than the seats of a pass
const FEW = 8; // rows that draw where a few show it

const SPREAD: Partial<Sampling> = { topK: 9, topP: 0.8, temperature: 1.7 };

// the same adapters, away from their start, on the device and on the CPU in float64
const SPEC = { model: LLAMA, critic: 'none', rows: ROWS, length: LENGTH, minibatchRows: ROWS } as const;
const SOURCE = packedSource(LLAMA, 7, () => 'Q4_1');
const SETTINGS = { seed: 3, reason: '' };
const there = await openGpuAdaptedPolicy(navigator.gpu, SPEC, SOURCE, ADAPTERS, learningMath, SETTINGS);
const here = await openCpuAdaptedPolicy(SPEC, SOURCE, ADAPTERS, learningMath, { ...SETTINGS, loops: NAIVE.f64 });
const draw = random(8, Purpose.weights);
const adapters = new Map(
  [...initialAdapters(LLAMA, ADAPTERS, 3)].map(([name, tensor]) => [name, tensor.map((x) => x + 0.2 * draw.normal())]),
);
for (const policy of [there, here]) policy.writeWeights(adapters);
afterAll(() => there.destroy());

/** Forces a prompt of three tokens in the first rows, and lets them draw `budget` tokens in grammar state `state`. */
function firstChunk(maxTokens: number, { rows = ROWS, budget = maxTokens, state = 1 } = {}): DecodeChunk {
  return {
    maxTokens,
    forced: Int32Array.from({ length: ROWS * maxTokens }, (_, i) => [5, 9, 2][i % maxTokens] ?? 0),
    forcedCounts: new Int32Array(ROWS).fill(3, 0, rows),
    forcedRoles: new Int32Array(ROWS).fill(Role.prompt),
    states: new Int32Array(ROWS).fill(-1).fill(state, 0, rows),
    budgets: new Int32Array(ROWS).fill(budget),
  };
}

/** In state 1 a fourth of the tokens leads on to state 2, and a third of that state's back; none ends a turn. */
function twoStates(): Grammar {
  const next = new Int32Array(3 * V);
  for (let v = 0; v < V; v++) {
    next[V + v] = v % 4 === 0 ? 2 : v % 4 === 1 ? -1 : 1;
    next[2 * V + v] = v % 3 === 0 ? 1 : v % 3 === 1 ? 2 : -1;
  }
  return { states: 3, vocabulary: V, next, stop: new Uint8Array(3) };
}

describe('beside adapters the device draws', () => {
  // what the cuts leave of few rows is held below: bisecting for them takes most of a draw's time on a software adapter
  const CASES = [
    ['in states that change within a turn', twoStates(), {}],
    ['in states that change within a turn, cut by top-k and top-p', twoStates(), SPREAD],
    ['from the whole distribution', oddGrammar(V), {}],
    ['from what top-k and top-p leave of a flatter one', oddGrammar(V), SPREAD],
  ] as const;
  test.each(firstRows(CASES, 1))(
    '%s, the same tokens as the CPU, in more rows than seats',
    async (_, grammar, change) => {
      const how = { ...sampling(), ...change };
      const [got, want] = [await rollOut(there, grammar, 3, how), await rollOut(here, grammar, 3, how)];
      expect(got.tokens).toEqual(want.tokens);
      expect(got.states).toEqual(want.states);
      expect(models.apart(got.sampled.flat(), want.sampled.flat())).toBeLessThan(1e-5);
      expect(new Set(got.tokens.map(String)).size).toBeGreaterThan(ROWS / 2);
    },
  );

  test('and says how much of the distribution top-k and top-p leave', async () => {
    const [got, want] = await Promise.all(
      [there, here].map(async (policy: Policy) => {
        policy.setGrammar(oddGrammar(V));
        policy.begin({ ...sampling(), ...SPREAD });
        return policy.decode(firstChunk(6, { rows: FEW, state: 0 }));
      }),
    );
    expect(got!.tokens).toEqual(want!.tokens);
    expect(models.apart([...got!.logMass!], [...want!.logMass!])).toBeLessThan(1e-5);
    expect(Math.min(...got!.logMass!)).toBeLessThan(-0.2);
  });

  test('a row that begins anew with the counters it is given', async () => {
    const drawnBy = async (policy: Policy, restart: boolean) => {
      policy.setGrammar(oddGrammar(V));
      policy.begin(sampling());
      const first = await policy.decode(firstChunk(6, { rows: FEW, state: 0 }));
      if (restart) for (const row of [0, FEW - 1]) policy.beginRow(row, { update: 4, rollout: 33 });
      const forcedCounts = new Int32Array(ROWS);
      for (const row of restart ? [0, FEW - 1] : []) forcedCounts[row] = 3;
      const second = await policy.decode({ ...firstChunk(6, { rows: FEW, state: 0, budget: 3 }), forcedCounts });
      return [...first.tokens, ...second.tokens];
    };
    const got = await drawnBy(there, true);
    expect(got).toEqual(await drawnBy(here, true));
    expect(got).not.toEqual(await drawnBy(here, false));
    const second = got.slice(ROWS * 6);
    expect(second.slice(6 * (FEW - 1), 6 * FEW).slice(0, 3)).toEqual(second.slice(0, 3)); // the same counters, the same tokens
  });

  test('tokens whose frequencies are those of the tempered, legal distribution cut by top-k and top-p', async () => {
    const grammar = twoStates();
    const how = { ...sampling(), ...SPREAD };
    const found = new Array<number>(V).fill(0);
    let kept = new Map<number, number>();
    const updates = isWeekly ? 24 : 4;
    for (let update = 0; update < updates; update++) {
      there.setGrammar(grammar);
      there.begin({ ...how, update });
      const drawn = await there.decode(firstChunk(4, { budget: 1 }));
      for (let row = 0; row < ROWS; row++) found[drawn.tokens[row * 4]!]!++;
      if (update > 0) continue;
      kept = await expectedFrom(drawn.logMass![0]!, grammar, how);
    }
    const total = updates * ROWS;
    let chiSquare = 0;
    for (const [v, p] of kept) chiSquare += (found[v]! - total * p) ** 2 / (total * p);
    expect(found.reduce((sum, n, v) => sum + (kept.has(v) ? n : 0), 0)).toBe(total);
    expect(kept.size).toBeGreaterThan(4);
    expect(chiSquare).toBeLessThan(26.1); // the 0.1 % point of χ² with eight degrees of freedom, the most that nine tokens have
  });
});

/** The probability of each token that is kept after the prompt, from the CPU's log-probabilities in float64. */
async function expectedFrom(logMass: number, { next }: Grammar, how: Sampling): Promise<Map<number, number>> {
  here.begin(how);
  await here.decode(firstChunk(4, { budget: 1 }));
  const logits = Array.from(await here.nextLogits(0, 3));
  const legal = logits.map((z, v) => ({ v, e: next[V + v]! < 0 ? 0 : Math.exp(z / how.temperature) }));
  const sum = legal.reduce((all, { e }) => all + e, 0);
  const top = legal.toSorted((a, b) => b.e - a.e).slice(0, how.topK);
  const topSum = top.reduce((all, { e }) => all + e, 0);
  let before = 0;
  const kept = top.filter(({ e }) => {
    const isKept = before < how.topP * topSum;
    before += e;
    return isKept;
  });
  const keptSum = kept.reduce((all, { e }) => all + e, 0);
  expect(Math.log(keptSum / sum)).toBeCloseTo(logMass, 4);
  return new Map(kept.map(({ v, e }) => [v, e / keptSum]));
}

test('no token is legal in a state: an error names the state', async () => {
  const next = new Int32Array(2 * V);
  next.fill(-1, V);
  there.setGrammar({ states: 2, vocabulary: V, next, stop: new Uint8Array(2) });
  there.begin(sampling());
  await expect(there.decode(firstChunk(6, { rows: FEW }))).rejects.toThrow('no token is legal in grammar state 1');
});

test('a chunk of drawn tokens is one read-back, and a token few dispatches', async () => {
  const countsOf = async (tokens: number) => {
    there.setGrammar(oddGrammar(V));
    there.begin(sampling());
    const before = there.counters();
    await there.decode(firstChunk(14, { rows: 5, state: 0, budget: tokens }));
    const after = there.counters();
    expect(after.creations).toBe(before.creations);
    return { readbacks: after.readbacks - before.readbacks, dispatches: after.dispatches - before.dispatches };
  };
  const [few, many] = [await countsOf(3), await countsOf(11)];
  expect([few.readbacks, many.readbacks]).toEqual([1, 1]);
  // an embedding, two layers of six, the language head and the draw
  expect((many.dispatches - few.dispatches) / 8).toBe(15);
});
