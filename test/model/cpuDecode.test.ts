import { describe, expect, it } from 'vitest';
import { drawToken } from '../../src/model/cpu/sampler.ts';
import { Purpose, streamKey, uniform } from '../../src/base/rng.ts';
import { freeGrammar, Role } from '../../src/domain/tokens.ts';
import { makePolicy, ODD, oddGrammar, rollOut, sampling } from './policies.ts';

const V = ODD.vocab_size;

describe('decoding', () => {
  it('draws the same tokens with the same log-probabilities whatever the chunk size', async () => {
    const one = await rollOut(makePolicy(), oddGrammar(V), 1);
    for (const chunk of [2, 3, 8]) expect(await rollOut(makePolicy(), oddGrammar(V), chunk)).toEqual(one);
  });

  it.each([
    ['grouped queries and biases', {}],
    ['tied embeddings', { tie_word_embeddings: true }],
    ['as many key heads as query heads, no biases', { num_key_value_heads: 2, attention_bias: false }],
  ])('gives each drawn token the log-probability the full forward pass gives it: %s', async (_, model) => {
    const policy = makePolicy({ model });
    const made = await rollOut(policy, oddGrammar(V), 4);
    await policy.score(sampling().temperature, { reference: false, values: true });
    const { logprobs } = await policy.report();
    let drawn = 0;
    for (const [b, row] of made.sampled.entries()) {
      for (const [t, sampled] of row.entries()) {
        if (made.roles[b]![t] !== Role.action) continue;
        drawn++;
        expect(Math.abs(logprobs[b * policy.length + t]! - sampled)).toBeLessThan(1e-4);
      }
    }
    expect(drawn).toBeGreaterThan(15);
  });

  it('agrees with log-softmax over the legal tokens of the full logits, tempered', async () => {
    const policy = makePolicy();
    const grammar = oddGrammar(V);
    const made = await rollOut(policy, grammar, 3);
    const logits = await policy.logits();
    for (const [b, row] of made.tokens.entries()) {
      for (const [t, id] of row.entries()) {
        if (made.roles[b]![t] !== Role.action) continue;
        const state = made.states[b]![t]!;
        const z = Array.from({ length: V }, (_, v) => logits[(b * policy.length + t - 1) * V + v]! / 0.8);
        const legal = z.filter((_, v) => grammar.next[state * V + v]! >= 0);
        const norm = Math.log(legal.reduce((a, x) => a + Math.exp(x), 0));
        expect(grammar.next[state * V + id]).toBeGreaterThanOrEqual(0);
        expect(Math.abs(z[id]! - norm - made.sampled[b]![t]!)).toBeLessThan(1e-4);
      }
    }
  });

  it('records roles as given, and stops a row at its grammar, its budget, and its full length', async () => {
    const policy = makePolicy({ rows: 3, length: 6 });
    policy.setGrammar(oddGrammar(V));
    policy.begin(sampling());
    const decode = (states: number[], budgets: number[]) =>
      policy.decode({
        maxTokens: 20,
        forced: Int32Array.from({ length: 60 }, () => 3),
        forcedCounts: Int32Array.of(2, 2, 2),
        forcedRoles: Int32Array.of(1, 3, 1),
        states: Int32Array.from(states),
        budgets: Int32Array.from(budgets),
      });
    const first = await decode([0, 0, -1], [2, 9, 9]);
    expect([...first.counts]).toEqual([2, 4, 0]);
    await expect(decode([0, 0, 0], [1, 1, 1])).rejects.toThrow('row 1 can take 0 forced tokens, and 2 were given');
  });

  it('refuses to draw before the first token', async () => {
    const policy = makePolicy({ rows: 1 });
    policy.begin(sampling());
    const none = new Int32Array(1);
    const chunk = {
      maxTokens: 1,
      forced: none,
      forcedCounts: none,
      forcedRoles: none,
      states: none,
      budgets: Int32Array.of(1),
    };
    await expect(policy.decode(chunk)).rejects.toThrow('row 0 has no token');
  });
});

describe('the sampler', () => {
  const logits = [0.3, -0.5, 1.2, 0, 0.9, -1.1];
  const norm = Math.log(logits.reduce((a, z) => a + Math.exp(z), 0));
  const logprobs = Float32Array.from(logits, (z) => z - norm);
  const free = freeGrammar(6).next;
  const draw = (change: Partial<ReturnType<typeof sampling>>, row: number, next = free) =>
    drawToken(logprobs, next, { ...sampling(), ...change }, uniform(streamKey(7, Purpose.trainSample), 1, row, 3))
      .token;
  const counts = (change: Partial<ReturnType<typeof sampling>>, next = free) => {
    const found = new Array<number>(6).fill(0);
    for (let row = 0; row < 20_000; row++) found[draw(change, row, next)]!++;
    return found;
  };
  const chiSquare = (found: number[], weights: number[]) => {
    const total = weights.reduce((a, w) => a + w, 0);
    return weights.reduce(
      (sum, w, k) => (w === 0 ? sum : sum + (found[k]! - (20_000 * w) / total) ** 2 / ((20_000 * w) / total)),
      0,
    );
  };
  const p = logits.map((z) => Math.exp(z - norm));

  it('draws from softmax', () => {
    // 20.5 is the 0.1 % point of χ² with five degrees of freedom.
    expect(chiSquare(counts({}), p)).toBeLessThan(20.5);
  });

  it('draws from softmax over the legal tokens, and never an illegal one', () => {
    const found = counts({}, Int32Array.of(0, 0, -1, 0, -1, 0));
    expect([found[2], found[4]]).toEqual([0, 0]);
    // 16.3: three degrees of freedom.
    expect(
      chiSquare(
        found,
        p.map((x, k) => (k === 2 || k === 4 ? 0 : x)),
      ),
    ).toBeLessThan(16.3);
  });

  it('keeps the k likeliest, and the shortest prefix that holds topP', () => {
    const kept = (found: number[]) => found.map((n, k) => (n > 0 ? k : -1)).filter((k) => k >= 0);
    expect(kept(counts({ topK: 2 }))).toEqual([2, 4]);
    expect(kept(counts({ topP: p[2]! + 0.01 }))).toEqual([2, 4]);
    expect(kept(counts({ topP: p[2]! - 0.01 }))).toEqual([2]);
    expect(
      chiSquare(
        counts({ topK: 3 }),
        p.map((x, k) => (k === 2 || k === 4 || k === 0 ? x : 0)),
      ),
    ).toBeLessThan(13.9);
  });

  it('takes the likeliest when greedy, the lowest id on a tie, and only a legal one', () => {
    expect(draw({ greedy: true }, 0)).toBe(2);
    expect(draw({ greedy: true }, 0, Int32Array.of(0, 0, -1, 0, -1, 0))).toBe(0);
    const tie = Float32Array.of(-1, -1, -2);
    expect(drawToken(tie, free, { ...sampling(), greedy: true }, 0).token).toBe(0);
  });

  it('says how much probability top-k and top-p left, and 0 nats where they cut nothing', () => {
    const mass = (change: Partial<ReturnType<typeof sampling>>, next = free) =>
      drawToken(logprobs, next, { ...sampling(), ...change }, 0.5).logMass;
    expect([mass({}), mass({ topK: 2, greedy: true })]).toEqual([0, 0]);
    expect(mass({ topK: 2 })).toBeCloseTo(Math.log(p[2]! + p[4]!), 6);
    // top-p of what top-k leaves: .9 of the two likeliest is both, .5 of them the first
    expect(mass({ topK: 2, topP: 0.9 })).toBeCloseTo(Math.log(p[2]! + p[4]!), 6);
    expect(mass({ topK: 2, topP: 0.5 })).toBeCloseTo(Math.log(p[2]!), 6);
  });
});
