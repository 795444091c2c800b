// rewards closer than this are equal up to float noise: ten summed −0.1 are −1.0000001 in float32
const EQUAL_REWARDS = 1e-6;

/** Returns the summed reward of each row of a (B,T) array, added in float64. */
export function rewardSums(rewards: ArrayLike<number>, rows: number, length: number): Float64Array {
  return Float64Array.from({ length: rows }, (_, row) => {
    let sum = 0;
    for (let t = 0; t < length; t++) sum += rewards[row * length + t] ?? 0;
    return sum;
  });
}

/** The spread of rewards among rollouts of the same prompt, over all prompts. */
export interface GroupSpread {
  readonly meanStd: number; // mean standard deviation (n − 1) of the groups; 0 for groups of one
  readonly flatShare: number; // share of groups in which all rollouts scored the same
}

export function groupSpread(scored: ArrayLike<number>, groups: ArrayLike<number>): GroupSpread {
  const byGroup = new Map<number, number[]>();
  for (let row = 0; row < scored.length; row++) {
    const group = groups[row] ?? 0;
    byGroup.set(group, [...(byGroup.get(group) ?? []), scored[row] ?? 0]);
  }
  let std = 0;
  let flatGroups = 0;
  for (const members of byGroup.values()) {
    const n = members.length;
    const range = Math.max(...members) - Math.min(...members);
    if (range < EQUAL_REWARDS) {
      flatGroups++;
      continue;
    }
    const mean = members.reduce((a, b) => a + b, 0) / n;
    std += Math.sqrt(members.reduce((sum, x) => sum + (x - mean) ** 2, 0) / (n - 1));
  }
  return { meanStd: std / byGroup.size, flatShare: flatGroups / byGroup.size };
}
