/** True for at most two typing errors, one below five letters: a letter too many, too few or wrong, neighbours swapped, another case. */
export function resembles(name: string, other: string): boolean {
  if (name === other) return false;
  const [a, b] = [name.toLowerCase(), other.toLowerCase()];
  const allowed = Math.min(a.length, b.length) < 5 ? 1 : 2;
  return Math.abs(a.length - b.length) <= allowed && typingErrors(a, b) <= allowed;
}

/** The Damerau–Levenshtein distance (optimal string alignment) of two words. */
function typingErrors(a: string, b: string): number {
  let [before, last] = [[] as number[], Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const isEqual = a[i - 1] === b[j - 1];
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(
        Math.min(
          last[j]! + 1,
          row[j - 1]! + 1,
          last[j - 1]! + (isEqual ? 0 : 1),
          swapped ? before[j - 2]! + 1 : Infinity,
        ),
      );
    }
    [before, last] = [last, row];
  }
  return last[b.length]!;
}
