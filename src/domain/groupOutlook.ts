/** How groups of `size` rollouts come out if each rollout succeeds with probability `p`, independently. */
export interface GroupOutlook {
  readonly allRight: number; // share of groups
  readonly allWrong: number;
  readonly dead: number; // both together: all rewards are equal, so advantages are 0
  readonly spread: number; // expected standard deviation (n) of a group's rewards of 0 and 1
}

/** Exact. As in rlvr-audit 0.1.0: `degenerate_fraction` and `sigma_exact_law`. */
export function groupOutlook(p: number, size: number): GroupOutlook {
  const [allRight, allWrong] = [p ** size, (1 - p) ** size];
  let spread = 0;
  let combinations = 1; // size over m
  for (let m = 1; m < size; m++) {
    combinations *= (size - m + 1) / m;
    const share = m / size;
    spread += combinations * p ** m * (1 - p) ** (size - m) * Math.sqrt(share * (1 - share));
  }
  return { allRight, allWrong, dead: allRight + allWrong, spread };
}
