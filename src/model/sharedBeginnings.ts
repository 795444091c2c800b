/** The beginning that a row shares with an earlier one: its first `shared` tokens equal those of row `like`. */
export interface SharedBeginning {
  readonly row: number;
  readonly like: number;
  readonly shared: number;
}

/**
 * The order in which to begin texts, each with its longest common beginning with any text before it in that order. The
 * first text has `shared` 0 and itself as `like`.
 */
export function sharedBeginnings(texts: readonly (readonly number[])[]): readonly SharedBeginning[] {
  const order = texts.map((_, row) => row).sort((a, b) => compareIds(texts[a]!, texts[b]!) || a - b);
  // among sorted texts, the one just before shares the longest beginning
  return order.map((row, i) => {
    const like = order[i - 1] ?? row;
    return { row, like, shared: like === row ? 0 : commonLength(texts[like]!, texts[row]!) };
  });
}

/**
 * Index of the text in `others` that shares the longest beginning with `text`, and its length; −1 and 0 if none does.
 */
export function mostInCommon(
  text: ArrayLike<number>,
  others: readonly ArrayLike<number>[],
): { readonly like: number; readonly shared: number } {
  let [like, shared] = [-1, 0];
  for (const [i, other] of others.entries()) {
    const n = commonLength(text, other);
    if (n > shared) [like, shared] = [i, n];
  }
  return { like, shared };
}

function commonLength(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let n = 0;
  while (n < a.length && n < b.length && a[n] === b[n]) n++;
  return n;
}

function compareIds(a: readonly number[], b: readonly number[]): number {
  const n = commonLength(a, b);
  return n < a.length && n < b.length ? a[n]! - b[n]! : a.length - b.length;
}
