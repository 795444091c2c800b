/** The policy drew `action` tokens. The environment forced `prompt` and `observation`, including an observation's closing tags. */
export const Role = { pad: 0, prompt: 1, action: 2, observation: 3 } as const;
export type Role = (typeof Role)[keyof typeof Role];

/** The place of the words among an observation's ids. The others are tags, or markup of a chat template. */
export type BodyRange = readonly [from: number, to: number];

/** What a token is to a reader: its role, or, for the agent's tokens, the tagged span that it's in. */
export type Kind = 'prompt' | 'think' | 'call' | 'observation' | 'answer';

/** Adds two kinds of other programs' rollouts: system messages, and agent tokens whose tags don't say what they are. */
export type SpanKind = Kind | 'system' | 'action';

/**
 * The legal tokens in each state, as a table that a GPU can follow. A token v drawn in state s is legal if and only if
 * `next[s * vocabulary + v] >= 0`, and that entry is the next state. Entering a state whose `stop` is 1 ends the turn,
 * and the row waits for its environment. State 0 is free: every token is legal and leads back to 0. Forced tokens are
 * recorded with state 0.
 */
export interface Grammar {
  readonly states: number; // at most 256
  readonly vocabulary: number; // V, at most 65,536
  readonly next: Int32Array; // (states, V)
  readonly stop: Uint8Array; // (states)
}

/** The grammar in which everything is legal, and only the ids in `stops` end a turn. */
export function freeGrammar(vocabulary: number, stops: readonly number[] = []): Grammar {
  if (stops.length === 0) return { states: 1, vocabulary, next: new Int32Array(vocabulary), stop: new Uint8Array(1) };
  const next = new Int32Array(2 * vocabulary);
  for (const id of stops) if (id < vocabulary) next[id] = 1;
  return { states: 2, vocabulary, next, stop: Uint8Array.of(0, 1) };
}

/** Exactly as they were drawn or forced, never re-tokenised. All arrays are (B,T), padded on the right. */
export interface TokenRecord {
  readonly tokens: Int32Array; // ids
  readonly roles: Uint8Array; // Role of each token
  readonly states: Uint8Array; // grammar state the token was drawn in; 0 for forced tokens
  /**
   * Index in the row of the first token of each token's context; absent: every row is one context. Attention doesn't look
   * across the start of a context, and positions count from there.
   */
  readonly contextStarts?: Int32Array;
}

/** What a policy loads of a record or a batch. */
export function tokenRecord({
  tokens,
  roles,
  states,
  contextStarts,
}: Omit<TokenRecord, 'contextStarts'> & { readonly contextStarts?: Int32Array | undefined }): TokenRecord {
  return { tokens, roles, states, ...(contextStarts && { contextStarts }) };
}

/** Words are joined by spaces; pieces of bytes contain their own spaces and are joined without any. */
export type Writing = 'words' | 'bytes';

/** The first token of every vocabulary of words. In a vocabulary of bytes it is a different token. */
const PAD = '<pad>';

export function writingOf(vocabulary: readonly string[]): Writing {
  return vocabulary[0] === undefined || vocabulary[0] === PAD ? 'words' : 'bytes';
}

/** An entry of a vocabulary as text. In a vocabulary of bytes, the entries mark spaces with ␣. */
export function withBlanks(piece: string, writing: Writing): string {
  return writing === 'words' ? piece : piece.replaceAll('␣', ' ');
}
