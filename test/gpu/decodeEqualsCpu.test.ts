import { describe, expect, test } from 'vitest';
import type { ModelConfig } from '../../src/model/architecture.ts';
import { createCpuPolicy } from '../../src/model/cpu/cpuPolicy.ts';
import { openGpuPolicy } from '../../src/model/gpu/gpuPolicy.ts';
import type { DecodeChunk, Sampling } from '../../src/model/decoding.ts';
import { type Grammar, Role } from '../../src/domain/tokens.ts';
import type { Policy } from '../../src/model/policy.ts';
import { learningMath } from '../../src/rl/plainLearningMath.ts';
import { ODD, roughWeights, SMALL, someGrammar, specOf } from './policies.ts';
import { KERNEL_SET_NAMES } from '../../src/config/kernelChoice.ts';
import { SAMPLING } from './rollOut.ts';
import { setsThatDrawTurns } from './sets.ts';
import { isWeekly } from '../weekly.ts';
import { NAIVE } from '../model/naiveArithmetic.ts';

const GROUPED = { ...ODD, intermediate_size: 100 }; // grouped heads, biases, a head of its own; tied without biases: SMALL

const turnSets = await setsThatDrawTurns();

/**
 * Chunks in which rows differ in all they can: prompts, budgets, grammar states, rows that wait, rows that run full, that start a context or forget their last tokens. In the
 * last one rows from the fifth on wait, so that with many rows a plan for few slots is at work.
 */
function ragged(B: number, steps: number): readonly DecodeChunk[] {
  const chunk = (
    of: (b: number) => { forced: number; state: number; budget: number; restarts?: boolean; kept?: number },
  ): DecodeChunk => {
    const rows = Array.from({ length: B }, (_, b) => of(b));
    return {
      maxTokens: steps,
      forced: Int32Array.from({ length: B * steps }, (_, i) => (i * 7) % 10),
      forcedCounts: Int32Array.from(rows, ({ forced }) => Math.min(forced, steps)),
      forcedRoles: Int32Array.from(rows, (_, b) => (b % 2 === 0 ? Role.prompt : Role.observation)),
      states: Int32Array.from(rows, ({ state }) => state),
      budgets: Int32Array.from(rows, ({ budget }) => budget),
      restarts: Uint8Array.from(rows, ({ restarts }) => Number(restarts ?? false)),
      kept: Int32Array.from(rows, ({ kept }) => kept ?? 99),
    };
  };
  return [
    chunk((b) => ({ forced: 1 + (b % 7), state: b === 2 ? -1 : b % 3, budget: b % 4 })),
    chunk((b) => ({ forced: b % 2, state: b === 1 ? -1 : 1, budget: 2 })),
    chunk((b) => ({ forced: b === 0 ? 0 : 1, state: 1 + (b % 2), budget: b === 3 ? 0 : 99, restarts: b % 3 === 1 })),
    chunk((b) => ({ forced: 1 + (b % 2), state: 1, budget: 2, ...(b % 3 !== 1 && { kept: 1 + (b % 4) }) })),
    chunk((b) => ({ forced: 0, state: b % 2 === 0 && b < 5 ? 1 : -1, budget: 3 })),
  ];
}

/** What each chunk gave, the log-probabilities of all recorded tokens scored afterwards. */
async function play(policy: Policy, sampling: Sampling, steps: number) {
  policy.begin(sampling);
  const chunks = [];
  for (const chunk of ragged(policy.rows, steps)) {
    const { dispatches } = policy.counters();
    chunks.push({ ...(await policy.decode(chunk)), dispatches: policy.counters().dispatches - dispatches });
  }
  await policy.score(sampling.temperature, { reference: false, values: false });
  const { logprobs } = await policy.report();
  return { chunks, logprobs };
}

/** `someGrammar` with a state that ends the turn: in state 1 a token in three goes there, so that rows stop at different places. */
function endingGrammar(V: number): Grammar {
  const { next } = someGrammar(V);
  for (let v = 0; v < V; v += 3) next[V + v] = 0;
  return { states: 3, vocabulary: V, next, stop: Uint8Array.of(1, 0, 0) };
}

// All sets draw the same: `plain` a token with a dispatch for each operation, `shared` a turn with one where it has tiles.
// All take the same uniform for a row and position, and their logits differ by rounding, some 1e-6: tokens can only differ
// where the uniform falls that close to a boundary between two tokens, which none of these seeds does.
const CASES: readonly (readonly [string, ModelConfig, number, readonly Partial<Sampling>[]])[] = [
  [
    'grouped heads, biases and a head of its own',
    GROUPED,
    6,
    [{}, { topP: 0.7 }, { topP: 0.7, topK: 4, greedy: true }],
  ],
  ['a tied head', SMALL, 6, [{ temperature: 0.7 }, { topK: 3 }, { topK: 5, topP: 0.6 }]],
  ['norms of q and k', { ...SMALL, qk_norm: true }, 6, [{ temperature: 0.7 }]],
  ['many rows, of which most wait in the end', SMALL, isWeekly ? 336 : 38, [{}]],
];
describe.each(KERNEL_SET_NAMES)('with %s kernels decoding draws and records what the CPU does', (kernels) => {
  test.each(CASES)('%s', async (_, model, rows, samplings) => {
    const spec = specOf(model, 'none', rows, 23);
    const gpu = await openGpuPolicy(navigator.gpu, spec, { seed: 2, kernels });
    const cpu = createCpuPolicy(spec, learningMath, { loops: NAIVE.f64, seed: 2, reason: '' });
    for (const policy of [cpu, gpu]) {
      policy.writeWeights(roughWeights(spec.model, 4));
      policy.setGrammar(endingGrammar(spec.model.vocab_size));
    }
    for (const how of samplings) {
      const sampling = { ...SAMPLING, ...how };
      const want = await play(cpu, sampling, 8);
      const cut = !sampling.greedy && (sampling.topK > 0 || sampling.topP < 1);
      expect(want.chunks.some(({ logMass }) => logMass?.some((x) => x < -0.05))).toBe(cut);
      expect(want.chunks.flatMap(({ counts }) => [...counts]).reduce((a, b) => a + b, 0)).toBeGreaterThan(20);
      const got = await play(gpu, sampling, 8);
      for (const [i, { counts, tokens, logprobs, logMass }] of want.chunks.entries()) {
        expect(got.chunks[i]?.counts).toEqual(counts);
        expect(got.chunks[i]?.tokens).toEqual(tokens);
        // f32 against f64
        logprobs.forEach((x, j) => expect(Math.abs(got.chunks[i]!.logprobs[j]! - x)).toBeLessThanOrEqual(1e-4));
        // what top-k and top-p left, by the same measure; said only where they cut
        expect(got.chunks[i]?.logMass === undefined).toBe(logMass === undefined);
        logMass?.forEach((x, j) => expect(Math.abs(got.chunks[i]!.logMass![j]! - x)).toBeLessThanOrEqual(1e-4));
      }
      want.logprobs.forEach((x, j) => expect(Math.abs(got.logprobs[j]! - x)).toBeLessThanOrEqual(1e-4));
      // nothing is forced in the last chunk: the dispatches of three tokens
      const { dispatches, span } = gpu.recorded.token;
      expect(got.chunks.at(-1)?.dispatches).toBe(Math.ceil(3 / span) * dispatches);
      if (turnSets.includes(kernels) && !model.qk_norm) expect(dispatches).toBe(1);
    }
    gpu.destroy();
  });
});
