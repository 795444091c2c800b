import { expect, test } from 'vitest';
import { relativeError } from '../../src/cli/goldenFixture.ts';
import { openGpuPolicy, type GpuPolicy } from '../../src/model/gpuPolicy.ts';
import type { DecodeChunk, DecodedChunk, Sampling } from '../../src/model/policy.ts';
import { Purpose, streamKey } from '../../src/rng.ts';
import { Role } from '../../src/tokens.ts';
import { ODD, roughWeights, SMALL, someGrammar, specOf } from './policies.ts';

const SAMPLING: Sampling = {
  key: streamKey(11, Purpose.trainSample),
  update: 3,
  temperature: 1,
  greedy: false,
  topK: 0,
  topP: 1,
};

/** Forces `prompt` and draws `draws` tokens from grammar state `state` in every row, `steps` tokens a chunk. */
async function rollOut(
  policy: GpuPolicy,
  sampling: Sampling,
  prompt: number[],
  draws: number,
  steps: number,
  state: number,
) {
  const { rows: B } = policy;
  policy.begin(sampling);
  const tokens = Array.from({ length: B }, () => [] as number[]);
  const logprobs = Array.from({ length: B }, () => [] as number[]);
  let forced = prompt;
  const grammar = someGrammar(policy.model.vocab_size);
  const states = new Int32Array(B).fill(state);
  while ((tokens[0]?.length ?? 0) < draws) {
    const now = forced.slice(0, steps);
    const chunk: DecodeChunk = {
      steps,
      forced: Int32Array.from({ length: B * steps }, (_, i) => now[i % steps] ?? 0),
      forcedCounts: new Int32Array(B).fill(now.length),
      forcedRoles: new Int32Array(B).fill(Role.prompt),
      states: forced.length > now.length ? new Int32Array(B).fill(-1) : states.slice(),
      budgets: Int32Array.from(tokens, (t) => draws - t.length),
    };
    forced = forced.slice(now.length);
    const got: DecodedChunk = await policy.decode(chunk);
    for (let b = 0; b < B; b++) {
      for (let i = 0; i < (got.counts[b] ?? 0); i++) {
        const token = got.tokens[b * steps + i]!;
        tokens[b]?.push(token);
        logprobs[b]?.push(got.logprobs[b * steps + i]!);
        states[b] = grammar.next[states[b]! * grammar.vocabulary + token]!;
      }
    }
  }
  return { tokens, logprobs };
}

test('T11 T69 cached decoding equals the full forward pass at every position, with grammar, grouped heads and biases', async () => {
  const spec = specOf(ODD, 'none', 3, 13);
  const policy = await openGpuPolicy(navigator.gpu, spec, { seed: 2 });
  policy.writeWeights(roughWeights(spec.model, 4));
  policy.setGrammar(someGrammar(spec.model.vocab_size));
  for (const temperature of [1, 0.6]) {
    const { logprobs } = await rollOut(policy, { ...SAMPLING, temperature }, [1], 12, 5, 1);
    policy.score(temperature, { reference: false, values: false });
    const report = await policy.report();
    const recomputed = logprobs.map((_, b) => Array.from(report.logprobs.subarray(b * 13 + 1, b * 13 + 13)));
    // f32 in two orders of summation
    expect(relativeError(logprobs.flat(), recomputed.flat())).toBeLessThanOrEqual(1e-4);
    expect(Math.max(...logprobs.flat().map((x, i) => Math.abs(x - recomputed.flat()[i]!)))).toBeLessThanOrEqual(1e-3);
  }
  policy.destroy();
});

test('T52 what is drawn does not depend on the decode chunk', async () => {
  const spec = specOf(SMALL, 'none', 4, 16);
  const policy = await openGpuPolicy(navigator.gpu, spec, { seed: 2 });
  policy.setGrammar(someGrammar(spec.model.vocab_size));
  const runs = [];
  for (const steps of [1, 3, 16]) runs.push((await rollOut(policy, SAMPLING, [1, 2, 3], 12, steps, 1)).tokens);
  policy.destroy();
  expect(runs[1]).toEqual(runs[0]);
  expect(runs[2]).toEqual(runs[0]);
  expect(new Set(runs[0]?.map(String)).size).toBeGreaterThan(1);
});

test('draws follow the softmax (χ²), its top-k and its top-p, and greedy takes the likeliest', async () => {
  const rows = 512;
  const spec = specOf(SMALL, 'none', rows, 3);
  const policy = await openGpuPolicy(navigator.gpu, spec, { seed: 2 });
  policy.writeWeights(roughWeights(spec.model, 9));
  const V = spec.model.vocab_size;
  const free = { states: 1, vocabulary: V, next: new Int32Array(V), stop: new Uint8Array(1) };
  policy.setGrammar(free);
  const histogram = async (sampling: Partial<Sampling>) => {
    const counts = new Array<number>(V).fill(0);
    const p = new Array<number>(V).fill(0);
    for (let update = 0; update < 4; update++) {
      const { tokens, logprobs } = await rollOut(policy, { ...SAMPLING, ...sampling, update }, [1], 1, 2, 0);
      tokens.forEach(([token = 0], b) => {
        counts[token] = (counts[token] ?? 0) + 1;
        p[token] = Math.exp(logprobs[b]?.[0] ?? 0);
      });
    }
    return { counts, p };
  };
  const chiSquare = (counts: number[], p: number[]) => {
    const mass = p.reduce((a, b) => a + b, 0);
    const total = counts.reduce((a, b) => a + b, 0);
    return counts.reduce((sum, n, v) => {
      const want = (total * (p[v] ?? 0)) / mass;
      return want > 0 ? sum + (n - want) ** 2 / want : sum;
    }, 0);
  };
  const all = await histogram({});
  expect(all.p.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 4); // every token was met, so p is the whole softmax
  // 10 degrees of freedom: χ² exceeds 29.6 once in a thousand; the seed is fixed
  expect(chiSquare(all.counts, all.p)).toBeLessThan(29.6);
  const order = all.p.map((_, v) => v).sort((a, b) => (all.p[b] ?? 0) - (all.p[a] ?? 0));
  const kept = (counts: number[]) => order.filter((v) => (counts[v] ?? 0) > 0);
  const top3 = await histogram({ topK: 3 });
  expect(kept(top3.counts)).toEqual(order.slice(0, 3));
  expect(chiSquare(top3.counts, top3.p)).toBeLessThan(13.9); // 2 degrees of freedom, one in a thousand
  const nucleus = await histogram({ topP: 0.6 });
  let mass = 0;
  const want = order.filter((v) => {
    const before = mass;
    mass += all.p[v] ?? 0;
    return before < 0.6;
  });
  expect(kept(nucleus.counts)).toEqual(want);
  const greedy = await histogram({ greedy: true });
  expect(kept(greedy.counts)).toEqual(order.slice(0, 1));
  policy.destroy();
});
