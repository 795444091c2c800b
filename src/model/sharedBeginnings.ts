/** How a row begins: with the first `shared` tokens of the row that it is `like`, which comes before. */
export interface SharedBeginning {
  readonly row: number;
  readonly like: number;
  readonly shared: number;
}

/** The order in which texts are begun, and what each has in common with one before it: the most that it has with any. */
export function sharedBeginnings(texts: readonly (readonly number[])[]): readonly SharedBeginning[] {
  const order = texts.map((_, row) => row).sort((a, b) => compared(texts[a]!, texts[b]!) || a - b);
  // sorted, the text just before has the longest beginning in common
  return order.map((row, i) => {
    const like = order[i - 1] ?? row;
    return { row, like, shared: like === row ? 0 : inCommon(texts[like]!, texts[row]!) };
  });
}

/** Which of the held texts a text has most in common with, and how many tokens; -1 and 0 where it has none. */
export function mostInCommon(
  text: ArrayLike<number>,
  held: readonly ArrayLike<number>[],
): { readonly like: number; readonly shared: number } {
  let [like, shared] = [-1, 0];
  for (const [i, other] of held.entries()) {
    const n = inCommon(text, other);
    if (n > shared) [like, shared] = [i, n];
  }
  return { like, shared };
}

function inCommon(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let n = 0;
  while (n < a.length && n < b.length && a[n] === b[n]) n++;
  return n;
}

function compared(a: readonly number[], b: readonly number[]): number {
  const n = inCommon(a, b);
  return n < a.length && n < b.length ? a[n]! - b[n]! : a.length - b.length;
}
