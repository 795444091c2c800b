/** How many tokens all rows begin with; the whole of the shortest when it begins them all. */
export function sharedPrefix(rows: readonly ArrayLike<number>[]): number {
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
