import type { ModelConfig } from './architecture.ts';
import type { Sampling } from './decoding.ts';

/** A part of the memory, by purpose. */
export interface MemoryPart {
  readonly purpose: string; // as a person reads it: weights, key-value cache, …
  readonly bytes: number;
}

/** Ids that a row is to read: what its environment says. */
export interface Appended {
  readonly row: number;
  readonly ids: readonly number[];
}

/** How far rows may draw. */
export interface DrawLimits {
  readonly steps: number; // tokens a row at most
  readonly stops: readonly number[]; // ids that end a row's turn; the stop id is drawn and counts
}

/** What a row drew. */
export interface DrawnText {
  readonly row: number;
  readonly ids: readonly number[]; // in order, its stop id at the end where it has one
  readonly logprobs: readonly number[]; // of each id: tempered, before top-k and top-p, as in DecodedChunk
  readonly stopped: boolean; // by a stop id
}

/** The likeliest tokens after a row's text. */
export interface Likeliest {
  readonly ids: readonly number[]; // likeliest first, the lower id on a tie
  readonly logprobs: readonly number[]; // at temperature 1
}

/**
 * A language model that is not trained. It holds B rows of text, with their keys and values, and draws tokens after them. What rows
 * have in common at their beginning is computed and kept once; this changes only rounding. Draws take the counters (update, row, position) of
 * `Sampling`, so equal counters give equal text. Every method throws RangeError on ids outside the vocabulary, rows that are not there, and
 * texts longer than `length`; then no row has changed.
 */
export interface TextModel {
  readonly model: ModelConfig;
  readonly backend: string; // as a person would name it
  readonly rows: number; // B
  readonly length: number; // most tokens of a row's text
  readonly memory: readonly MemoryPart[]; // what was allocated
  /** Rows 0 … n − 1 begin again with these texts; the others are empty. */
  begin(texts: readonly (readonly number[])[]): Promise<void>;
  /** Tokens of a row's text. */
  filled(row: number): number;
  /** Forgets a row's text from token `count` on; at least one token stays. */
  keep(row: number, count: number): void;
  /** Appends ids to rows. */
  append(appended: readonly Appended[]): Promise<void>;
  /** Draws on in these rows, each until a stop id, its steps are over or its text is full. */
  draw(rows: readonly number[], limits: DrawLimits, sampling: Sampling): Promise<readonly DrawnText[]>;
  /** The likeliest tokens after each row's text. */
  likeliest(rows: readonly number[], count: number): Promise<readonly Likeliest[]>;
  /** log p of `ids` each after the row's text and those before, at temperature 1; the row's text stays as it was. */
  score(row: number, ids: readonly number[]): Promise<readonly number[]>;
  destroy(): void;
}
