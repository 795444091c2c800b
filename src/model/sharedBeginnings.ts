/** The beginning that a row shares with an earlier one: its first `shared` tokens equal those of row `likeRow`. */
export interface SharedBeginning {
  readonly row: number;
  readonly likeRow: number;
  readonly shared: number;
}

/** Orders texts, each with its longest common beginning with any before it. The first has `shared` 0 and itself as `likeRow`. */
export function sharedBeginnings(texts: readonly ArrayLike<number>[]): readonly SharedBeginning[] {
  const order = texts.map((_, row) => row).sort((a, b) => compareIds(texts[a]!, texts[b]!) || a - b);
  // among sorted texts, the one just before shares the longest beginning
  return order.map((row, i) => {
    const likeRow = order[i - 1] ?? row;
    return { row, likeRow, shared: likeRow === row ? 0 : commonLength(texts[likeRow]!, texts[row]!) };
  });
}

/** The index of the text that shares the longest beginning, and this beginning's length in tokens; −1 and 0 if none shares any. */
export function longestShared(
  text: ArrayLike<number>,
  candidates: readonly ArrayLike<number>[],
): { readonly index: number; readonly shared: number } {
  let [like, shared] = [-1, 0];
  for (const [i, candidate] of candidates.entries()) {
    const n = commonLength(text, candidate);
    if (n > shared) [like, shared] = [i, n];
  }
  return { index: like, shared };
}

export function commonLength(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let n = 0;
  while (n < a.length && n < b.length && a[n] === b[n]) n++;
  return n;
}

function compareIds(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const n = commonLength(a, b);
  return n < a.length && n < b.length ? a[n]! - b[n]! : a.length - b.length;
}
