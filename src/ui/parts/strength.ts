/** The size that is drawn at full strength: the 99th percentile of sizes, so that no outlier hides the others; 0 of none. */
export function fullStrength(sizes: readonly number[]): number {
  // numbers alone sort without a call of a function for each pair
  const sorted = Float64Array.from(sizes).sort();
  return sorted[Math.floor((sorted.length - 1) * 0.99)] ?? 0;
}
