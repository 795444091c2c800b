import type { RunConfig } from '../config/fields.ts';
import { EQUAL_SCORES } from './advantages.ts';

/**
 * Slack of `top-p`: the kept spread may be this much below the wanted share of the total. If the total spread is less
 * than this, no group is kept (RAGEN-2 `selection_eps`).
 */
const TOP_P_SLACK = 0.01;

export interface FilterSettings {
  readonly mode: RunConfig['filter'];
  readonly share: number; // top-fraction: share of the groups that is kept, 0 … 1
  readonly topP: number; // top-p: share of the summed spread that is kept, 0 … 1
  /** Advantages are multiplied by 1, the kept share of groups, or its square root. */
  readonly scaling: RunConfig['filterScaling'];
}

export interface FilteredGroups {
  readonly groups: Int32Array; // (B); the group of each row, −1 if the row was dropped
  readonly keptGroups: number;
  readonly totalGroups: number; // before the filter
  readonly spread: ReadonlyMap<number, number>; // group → n − 1 standard deviation of its scores, 0 when uniform
  readonly scale: number; // factor for the advantages
}

/**
 * Keeps the groups that are worth learning from. `scores` (B) must be raw: sums of the environment's rewards before KL,
 * normalization or any other shaping, because the filter compares their spread. A group is uniform, with spread 0, if
 * its scores lie within 1e-6 of each other; so is a group of one.
 *
 * `top-fraction` (StarPO-S, Wang et al. 2025, §4) keeps the max(1, ⌊share·G⌋) groups of largest spread, ties to the
 * lower id; a share of 1 keeps all.
 * `top-p` (RAGEN-2's linear variant without uniform groups) keeps groups with a spread above 0, the largest first,
 * until their spreads add up to topP times the total minus 0.01; topP ≥ 1 keeps every group that is not uniform.
 * `drop-uniform` (DAPO, Yu et al. 2025, §3.2) keeps all groups that are not uniform.
 * All modes except `none` and `top-fraction` may keep no group. Rows whose group is −1 stay out and are not counted.
 */
export function filterGroups(scores: ArrayLike<number>, groups: Int32Array, settings: FilterSettings): FilteredGroups {
  const spread = groupSpreads(scores, groups);
  const keptGroups = new Set(select(spread, settings));
  const share = spread.size === 0 ? 0 : keptGroups.size / spread.size;
  return {
    groups: groups.map((group) => (keptGroups.has(group) ? group : -1)),
    keptGroups: keptGroups.size,
    totalGroups: spread.size,
    spread,
    scale: { none: 1, linear: share, sqrt: Math.sqrt(share) }[settings.scaling],
  };
}

/** Returns the n − 1 standard deviation of each group's scores, by ascending group id. */
export function groupSpreads(scores: ArrayLike<number>, groups: Int32Array): Map<number, number> {
  const members = new Map<number, number[]>();
  for (const [row, group] of groups.entries()) {
    const groupScores = members.get(group);
    if (groupScores) groupScores.push(scores[row]!);
    else if (group >= 0) members.set(group, [scores[row]!]);
  }
  return new Map([...members].sort(([a], [b]) => a - b).map(([group, groupScores]) => [group, deviation(groupScores)]));
}

function deviation(groupScores: readonly number[]): number {
  if (Math.max(...groupScores) - Math.min(...groupScores) < EQUAL_SCORES) return 0;
  const mean = groupScores.reduce((a, s) => a + s, 0) / groupScores.length;
  return Math.sqrt(groupScores.reduce((a, s) => a + (s - mean) ** 2, 0) / (groupScores.length - 1));
}

function select(spread: ReadonlyMap<number, number>, { mode, share, topP }: FilterSettings): number[] {
  // the map is ordered by id and the sort is stable, so ties go to the lower id
  const bySpread = [...spread].sort(([, a], [, b]) => b - a);
  const ids = (entries: typeof bySpread) => entries.map(([group]) => group);
  const varied = bySpread.filter(([, s]) => s > 0);
  switch (mode) {
    case 'none':
      return ids(bySpread);
    case 'top-fraction':
      return ids(bySpread.slice(0, Math.max(1, Math.floor(share * bySpread.length))));
    case 'drop-uniform':
      return ids(varied);
    case 'top-p': {
      if (topP >= 1) return ids(varied);
      const wanted = topP * varied.reduce((sum, [, s]) => sum + s, 0) - TOP_P_SLACK;
      let sum = 0;
      let count = 0;
      while (sum < wanted && count < varied.length) sum += varied[count++]![1];
      return ids(varied.slice(0, count));
    }
  }
}
