import type { GpuPolicy } from '../../src/model/gpu/gpuPolicy.ts';
import type { DecodeChunk, DecodedChunk, Sampling } from '../../src/model/decoding.ts';
import { Purpose, streamKey } from '../../src/base/rng.ts';
import { Role } from '../../src/domain/tokens.ts';
import { someGrammar } from './policies.ts';

export const SAMPLING: Sampling = {
  key: streamKey(11, Purpose.trainSample),
  update: 3,
  temperature: 1,
  greedy: false,
  topK: 0,
  topP: 1,
};

/** Forces `prompt` and draws `draws` tokens from grammar state `state` in every row, `maxTokens` tokens a chunk. */
export async function rollOut(
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
      maxTokens: steps,
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
