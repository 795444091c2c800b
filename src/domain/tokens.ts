/**
 * Who wrote a token. Forced or sampled is the only bit that decides: `action` was drawn by the policy,
 * `prompt` and `observation` were forced by the environment (closing tags of an observation too).
 */
export const Role = { pad: 0, prompt: 1, action: 2, observation: 3 } as const;
export type Role = (typeof Role)[keyof typeof Role];

/** What a reader sees a token as: its role, and inside the agent's own words the span its tags open. */
export type Kind = 'prompt' | 'think' | 'call' | 'observation' | 'answer';

/** The kinds of rollouts from elsewhere too: a system message, and words of the agent's that no tag tells the kind of. */
export type SpanKind = Kind | 'system' | 'action';

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

/** The first word of every vocabulary of words; tokenizers of bytes have another. */
const PAD = '<pad>';

/** How the tokens of a vocabulary follow one another. */
export function writingOf(vocabulary: readonly string[]): Writing {
  return vocabulary[0] === undefined || vocabulary[0] === PAD ? 'words' : 'bytes';
}

/** A piece of a vocabulary as text: pieces of bytes mark their blanks. */
export function withBlanks(piece: string, writing: Writing): string {
  return writing === 'words' ? piece : piece.replaceAll('␣', ' ');
}
