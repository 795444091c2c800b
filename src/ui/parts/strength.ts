/** The size that is drawn at full strength: the 99th percentile of sizes, so that no outlier hides the others; 0 of none. Sorts them. */
export function fullStrength(sizes: number[]): number {
  sizes.sort((a, b) => a - b);
  return sizes[Math.floor((sizes.length - 1) * 0.99)] ?? 0;
}
