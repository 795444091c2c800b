/** The size to show at full strength: the 99th percentile, so that outliers don't make the other values invisible. 0 for an empty list. */
export function fullStrength(sizes: readonly number[]): number {
  // a typed array sorts without calling a function for each pair
  const sorted = Float64Array.from(sizes).sort();
  return sorted[Math.floor((sorted.length - 1) * 0.99)] ?? 0;
}
