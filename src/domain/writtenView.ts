/** The result of `view()` of an environment that a person wrote: small, and only text. */
export type WrittenView =
  | { readonly kind: 'text'; readonly text: string }
  // rows of cells; the first row of a table names its columns
  | { readonly kind: 'table' | 'grid'; readonly rows: readonly (readonly string[])[] }
  | {
      readonly kind: 'line'; // numbers from `from` to `to`, with names at some of them
      readonly from: number;
      readonly to: number;
      readonly marks: readonly { readonly name: string; readonly at: number }[];
    };
