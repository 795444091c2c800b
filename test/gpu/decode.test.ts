import { describe, expect, test } from 'vitest';
import { relativeError } from '../../tools/golden/goldenFixture.ts';
import { openGpuPolicy } from '../../src/model/gpu/gpuPolicy.ts';
import type { Sampling } from '../../src/model/decoding.ts';
import { lastingEnv, SETTINGS } from '../rl/lastingEnv.ts';
import { batched, refilled } from '../rl/noting.ts';
import { KERNEL_SET_NAMES } from '../../src/config/kernelChoice.ts';
import { NO_HALVES, storesHalves } from './halves.ts';
import { ODD, roughWeights, SMALL, someGrammar, specOf } from './policies.ts';
import { rollOut, SAMPLING } from './rollOut.ts';

// f32 sums in two orders; in f16 a sum that ends between two halves is stored as one or the other, 2^-10 apart, and what is
// made of it as well; few are, so that all scores together move by less than one rounding, one alone by less than eight
const STORAGES = [
  ['f32', 1e-4, 1e-3],
  ['f16', 2 ** -11, 2 ** -8],
] as const;
const halves = await storesHalves();

// heads of more than 16 take their keys in pairs; smaller ones are compared with the CPU in decodeEqualsCpu.test.ts
describe('decoding', () => {
  test.for(STORAGES)(
    'in %s cached decoding equals the full forward pass at every position, with grammar, grouped heads and biases',
    async ([storage, bound, each], { skip }) => {
      skip(storage === 'f16' && !halves, NO_HALVES);
      const spec = specOf({ ...ODD, intermediate_size: 101, head_dim: 20 }, 'none', 3, 13);
      const policy = await openGpuPolicy(navigator.gpu, spec, { seed: 2, storage });
      policy.writeWeights(roughWeights(spec.model, 4));
      policy.setGrammar(someGrammar(spec.model.vocab_size));
      for (const temperature of [1, 0.6]) {
        const { logprobs } = await rollOut(policy, { ...SAMPLING, temperature }, [1], 12, 5, 1);
        policy.score(temperature, { reference: false, values: false });
        const report = await policy.report();
        const recomputed = logprobs.map((_, b) => Array.from(report.logprobs.subarray(b * 13 + 1, b * 13 + 13)));
        const differences = logprobs.flat().map((x, i) => Math.abs(x - recomputed.flat()[i]!));
        expect(relativeError(logprobs.flat(), recomputed.flat())).toBeLessThanOrEqual(bound);
        expect(Math.max(...differences)).toBeLessThanOrEqual(each);
      }
      policy.destroy();
    },
  );

  test('what is drawn does not depend on the decode chunk, nor on the row or when it began', async () => {
    const spec = specOf(SMALL, 'none', 4, 16);
    const policy = await openGpuPolicy(navigator.gpu, spec, { seed: 2 });
    const grammar = someGrammar(spec.model.vocab_size);
    policy.setGrammar(grammar);
    const runs = [];
    for (const steps of [1, 3, 16]) runs.push((await rollOut(policy, SAMPLING, [1, 2, 3], 12, steps, 1)).tokens);
    expect(runs[1]).toEqual(runs[0]);
    expect(runs[2]).toEqual(runs[0]);
    expect(new Set(runs[0]?.map(String)).size).toBeGreaterThan(1);
    const env = lastingEnv(grammar, 3);
    const tasks = [13, 21, 2, 41, 51, 63, 32, 71, 81, 12, 93].map((seed, i) => ({
      seed,
      environmentSeed: 0,
      counters: { update: SAMPLING.update + Math.floor(i / 4), rollout: i % 4 },
    }));
    const { creations } = policy.counters();
    for (const greedy of [false, true]) {
      const request = { tasks, settings: SETTINGS, sampling: { ...SAMPLING, greedy }, chunk: 5, begin: env.reset };
      const before = await batched(policy, env, request);
      const now = await refilled(policy, env, request);
      expect(now.drawn).toEqual(before.drawn); // log-probabilities too, to the last bit
      expect(new Set([...now.drawn.values()].map(String)).size).toBe(tasks.length);
      expect(now.chunks.length).toBeLessThan(before.chunks.length);
    }
    expect(policy.counters().creations).toBe(creations);
    policy.destroy();
  });

  test.each(KERNEL_SET_NAMES)(
    'with %s kernels draws follow the softmax (χ²), its top-k, its top-p and the grammar, and greedy takes the likeliest',
    async (kernels) => {
      const rows = 512;
      const spec = specOf({ ...SMALL, vocab_size: 11 }, 'none', rows, 3); // few enough that each is drawn
      const policy = await openGpuPolicy(navigator.gpu, spec, { seed: 2, kernels, work: ['drawing'] });
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
      // among three legal tokens, at another temperature: softmax((log p) / 0.5) of these
      const legal = order.slice(1, 4);
      const next = new Int32Array(V).map((_, v) => (legal.includes(v) ? 0 : -1));
      policy.setGrammar({ ...free, next });
      const some = await histogram({ temperature: 0.5 });
      expect(kept(some.counts)).toEqual(legal);
      expect(
        chiSquare(
          some.counts,
          all.p.map((p, v) => (legal.includes(v) ? p ** 2 : 0)),
        ),
      ).toBeLessThan(13.9);
      policy.setGrammar(free);
      const greedy = await histogram({ greedy: true });
      expect(kept(greedy.counts)).toEqual(order.slice(0, 1));
      policy.destroy();
    },
  );
});
