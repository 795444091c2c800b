/** The number of tokens that all rows begin with: the length of the shortest row if all others begin with it. */
export function sharedPrefixLength(rows: readonly ArrayLike<number | string>[]): number {
  const [first, ...others] = rows;
  if (!first) return 0;
  let length = Math.min(...rows.map((row) => row.length));
  for (const other of others) {
    let at = 0;
    while (at < length && other[at] === first[at]) at++;
    length = at;
  }
  return length;
}
