/**
 * Who wrote a token. Forced or sampled is the only bit that decides: `action` was drawn by the policy,
 * `prompt` and `observation` were forced by the environment (closing tags of an observation too).
 */
export const Role = { pad: 0, prompt: 1, action: 2, observation: 3 } as const;
export type Role = (typeof Role)[keyof typeof Role];

/**
 * Which tokens are legal in which state, as a table that a GPU can follow. A token v drawn in state s is legal iff
 * `next[s * vocabulary + v] >= 0`, and that entry is the state it leads to. Entering a state whose `stop` is 1
 * ends the turn: the row waits for its environment. State 0 is free: every token is legal and leads back to 0;
 * forced tokens are recorded in it.
 */
export interface Grammar {
  readonly states: number; // at most 256
  readonly vocabulary: number; // V, at most 65,536
  readonly next: Int32Array; // (states, V)
  readonly stop: Uint8Array; // (states)
}

/** The grammar in which everything is legal and nothing ends a turn. */
export function freeGrammar(vocabulary: number): Grammar {
  return { states: 1, vocabulary, next: new Int32Array(vocabulary), stop: new Uint8Array(1) };
}

/** A batch of B rows of T tokens, padded on the right; the record of what happened, never re-tokenised. All (B,T). */
export interface TokenRecord {
  readonly tokens: Int32Array; // ids
  readonly roles: Uint8Array; // Role of each token
  readonly states: Uint8Array; // grammar state the token was drawn in; 0 for forced tokens
}

/** How tokens follow one another as text: words with a blank between them; pieces of bytes with nothing, for they hold their own. */
export type Writing = 'words' | 'bytes';
