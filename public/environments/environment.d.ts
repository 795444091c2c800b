/** The only source of random numbers. The same task draws the same numbers in every run. */
export interface Draw {
  /** A number from 0 up to 1. */
  next(): number;
  /** A whole number from 0 up to n − 1. */
  int(n: number): number;
  /** One of a list. */
  pick<T>(list: readonly T[]): T;
  /** A shuffled copy of a list. */
  shuffle<T>(list: readonly T[]): T[];
  /** True with this probability. */
  chance(p: number): boolean;
}

/** The task of an episode. */
export interface Task {
  readonly split: 'train' | 'test';
  readonly index: number;
  readonly draw: Draw;
}

/** A call of a tool. The method expert() returns one, or a text that ends the episode. */
export interface Call {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, string | number | boolean>>;
}

/** The return value of view(). The page draws it before the first turn and after each turn. */
export type View =
  | string
  | { readonly table: readonly (readonly (string | number)[])[] } // the first row names the columns
  | { readonly grid: readonly (string | readonly (string | number)[])[] } // a row is a list of cells, or a text with one cell for each letter
  | { readonly line: { readonly from: number; readonly to: number; readonly marks: Readonly<Record<string, number>> } }; // a number line; `marks` has the position of each mark by its name

/** A finished turn. `observe(history)` gets a list of them. */
export interface Turn extends Call {
  /** The answer of the tool, or the message of the error that it threw. */
  readonly answer: string;
}
