/** What an environment that a person wrote shows of itself by its `view()`: small, and text alone. */
export type WrittenView =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'table' | 'grid'; readonly rows: readonly (readonly string[])[] } // of cells; the first row of a table names its columns
  | {
      readonly kind: 'line'; // numbers from `from` to `to`, with names at some of them
      readonly from: number;
      readonly to: number;
      readonly marks: readonly { readonly name: string; readonly at: number }[];
    };
