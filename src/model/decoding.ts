/** How tokens are drawn. Each draw uses the random number uniform(key, update, rollout, position). */
export interface Sampling {
  readonly key: number; // streamKey(seed, purpose)
  readonly update: number;
  readonly temperature: number; // inside every log-probability
  readonly greedy: boolean; // the likeliest legal token, lowest id on a tie
  readonly topK: number; // 0: off
  readonly topP: number; // 1: off
}

/** Whether top-k or top-p removes tokens from the distribution before a draw. */
export function usesTopKOrTopP({ greedy, topK, topP }: Sampling): boolean {
  return !greedy && (topK > 0 || topP < 1);
}

/** Random-number counters of a row's draws. A third counter is the position of the drawn token. */
export interface DrawCounters {
  readonly update: number;
  readonly rollout: number;
}

/** One submit. A row takes its forced tokens, then draws until its turn ends, its budget is spent, or it advanced by `maxTokens`. */
export interface DecodeChunk {
  readonly maxTokens: number; // tokens each row may advance, forced ones included
  readonly forced: Int32Array; // (B, maxTokens) ids; only the first forcedCounts[b] of a row count
  readonly forcedCounts: Int32Array; // (B)
  readonly forcedRoles: Int32Array; // (B) Role of the forced tokens
  readonly states: Int32Array; // (B) grammar state to draw in after the forced tokens; −1: draw nothing
  readonly budgets: Int32Array; // (B) tokens the row may draw in this chunk
  /** (B) 1: a new context of the row starts with the first forced token of this chunk. Absent: none starts. */
  readonly restarts?: Uint8Array;
  /** (B) tokens of the row that stay from earlier chunks. The row forgets later ones. Absent: all stay. */
  readonly kept?: Int32Array;
}

export interface DecodedChunk {
  readonly counts: Int32Array; // (B) tokens drawn
  readonly tokens: Int32Array; // (B, maxTokens)
  readonly logprobs: Float32Array; // (B, maxTokens) tempered, grammar-masked, before top-k and top-p
  /** (B, maxTokens) log of the total probability that top-k and top-p keep; absent if both are off. */
  readonly logMass?: Float32Array;
}
