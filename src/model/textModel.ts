import type { ModelConfig } from './architecture.ts';
import type { Sampling } from './decoding.ts';

export interface MemoryPart {
  readonly purpose: string; // in words for a person: weights, key-value cache, …
  readonly bytes: number;
}

/** Token ids to append to a row, such as its environment's answer. */
export interface AppendedIds {
  readonly row: number;
  readonly ids: readonly number[];
}

export interface DrawLimits {
  readonly maxTokens: number; // maximum tokens per row
  readonly stops: readonly number[]; // ids that end a row's turn; the stop id is drawn and counts
}

export interface DrawnText {
  readonly row: number;
  readonly ids: readonly number[]; // in order; the stop id, if drawn, is the last
  readonly logprobs: readonly number[]; // of each id, tempered, before top-k and top-p, as in DecodedChunk
  readonly stopped: boolean; // by a stop id
}

export interface LikeliestTokens {
  readonly ids: readonly number[]; // likeliest first, the lower id on a tie
  readonly logprobs: readonly number[]; // at temperature 1
}

/**
 * A language model for drawing and scoring text, not for training. It holds B rows of text with their keys and values
 * and draws tokens after them. A beginning that rows share is computed and stored once; this changes results only by
 * rounding. Draws use the counters (update, row, position) of `Sampling`, so equal counters give equal text. Every
 * method throws RangeError on ids outside the vocabulary, rows that don't exist, and texts longer than `length`; then
 * no row has changed.
 */
export interface TextModel {
  readonly model: ModelConfig;
  readonly backend: string; // in words for a person
  readonly rows: number; // B
  readonly length: number; // maximum tokens per row
  readonly memory: readonly MemoryPart[]; // what was allocated
  /** Restarts rows 0 … n − 1 with these texts and empties the others. */
  begin(texts: readonly (readonly number[])[]): Promise<void>;
  textLength(row: number): number;
  /** Keeps only the first `count` tokens of a row, at least one. */
  keep(row: number, count: number): void;
  append(appended: readonly AppendedIds[]): Promise<void>;
  /** Draws tokens in each row until it draws a stop id, has drawn `limits.maxTokens` tokens, or is full. */
  draw(rows: readonly number[], limits: DrawLimits, sampling: Sampling): Promise<readonly DrawnText[]>;
  /** The likeliest tokens after each row's text. */
  likeliest(rows: readonly number[], count: number): Promise<readonly LikeliestTokens[]>;
  /** Log-probability of each id after the row's text and the ids before it, at temperature 1. The text does not change. */
  score(row: number, ids: readonly number[]): Promise<readonly number[]>;
  destroy(): void;
}
