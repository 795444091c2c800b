/** How tokens are drawn, and the first counters of the draws: uniform(streamKey(seed, purpose), update, rollout, position). */
export interface Sampling {
  readonly key: number; // streamKey(seed, purpose)
  readonly update: number;
  readonly temperature: number; // inside every log-probability
  readonly greedy: boolean; // the likeliest legal token, lowest id on a tie
  readonly topK: number; // 0: off
  readonly topP: number; // 1: off
}

/** Whether draws come from less than the whole distribution. */
export function cuts({ greedy, topK, topP }: Sampling): boolean {
  return !greedy && (topK > 0 || topP < 1);
}

/** Counters of a row's draws; the third is the position. */
export interface DrawCounters {
  readonly update: number;
  readonly rollout: number;
}

/**
 * What each row does in one submit. A row first takes its forced tokens, then draws until its grammar stops it, its
 * budget is spent, or the chunk's `steps` are over.
 */
export interface DecodeChunk {
  readonly steps: number; // tokens each row may advance, forced ones included
  readonly forced: Int32Array; // (B, steps) ids; only the first forcedCounts[b] of a row count
  readonly forcedCounts: Int32Array; // (B)
  readonly forcedRoles: Int32Array; // (B) Role of the forced tokens
  readonly states: Int32Array; // (B) grammar state to draw in after the forced tokens; −1: draw nothing
  readonly budgets: Int32Array; // (B) tokens the row may draw in this chunk
}

/** What came of a chunk: drawn tokens of each row, in order. */
export interface DecodedChunk {
  readonly counts: Int32Array; // (B) tokens drawn
  readonly tokens: Int32Array; // (B, steps)
  readonly logprobs: Float32Array; // (B, steps) tempered, grammar-masked, before top-k and top-p
  readonly logMass?: Float32Array; // (B, steps) log of the probability that top-k and top-p left; absent where they cut nothing
}
