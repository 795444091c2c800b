/** Where all chance comes from: the same task draws the same. */
export interface Draw {
  /** A number from 0 up to 1. */
  next(): number;
  /** A whole number from 0 up to n − 1. */
  int(n: number): number;
  /** One of a list. */
  pick<T>(list: readonly T[]): T;
  /** A list in another order; the one given stays as it is. */
  shuffle<T>(list: readonly T[]): T[];
  /** True with this probability. */
  chance(p: number): boolean;
}

/** Which task an episode is about. */
export interface Task {
  readonly split: 'train' | 'test';
  readonly index: number;
  readonly draw: Draw;
}

/** A turn of the expert: a call of a tool by its name, or a text, which ends the episode. */
export interface Call {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, string | number | boolean>>;
}

/** What view() returns: what the page draws of the environment before the first turn and after each. */
export type View =
  | string
  | { readonly table: readonly (readonly (string | number)[])[] } // the first row names the columns
  | { readonly grid: readonly (string | readonly (string | number)[])[] } // a row of cells each; a text has a cell a letter
  | { readonly line: { readonly from: number; readonly to: number; readonly marks: Readonly<Record<string, number>> } };

/** A turn that is over, as `observe(history)` is given it. */
export interface Turn extends Call {
  /** What the tool answered, or in which words it turned the call down. */
  readonly answer: string;
}
