import { type Interval, shareInterval } from '../base/inference.ts';
import { intervalText } from '../base/inferenceWords.ts';

/** Tries of some tasks. More tasks narrow the intervals, more tries allow a larger k. */
export const GATE = { tasks: 32, tries: 16 } as const;

/** How often each task was solved, all tasks in equally many tries. */
export interface SolvedTries {
  readonly solved: readonly number[]; // by task
  readonly tries: number; // of each task
}

export interface PassRate {
  readonly k: number;
  readonly share: number; // of tasks that are solved at least once in k tries
  /** Over tasks. Clopper–Pearson: rather too wide, because a task's pass@k varies at most as much as yes or no. */
  readonly interval: Interval;
}

/** What tries of the policy say about learning from them by RL. */
export interface PassGate {
  readonly tasks: number;
  readonly tries: number;
  readonly rates: readonly PassRate[]; // pass@1, pass@4, pass@16, up to the number of tries
  readonly neverSolved: number; // tasks
  readonly dead: number; // share of groups that are all right or all wrong
}

/** Unbiased pass@k from `solved` of `tries`: 1 − C(n−c, k) / C(n, k) (Chen et al. 2021, arXiv 2107.03374, eq. 1). */
export function passAtK(solved: number, tries: number, k: number): number {
  let allFail = 1;
  for (let i = 0; i < k; i++) allFail *= Math.max(0, tries - solved - i) / (tries - i);
  return 1 - allFail;
}

/** `groupSize`: rollouts of a task in a group of the run. */
export function passGate({ solved, tries }: SolvedTries, groupSize: number): PassGate {
  const tasks = solved.length;
  const meanOf = (measure: (solvedTries: number) => number) => solved.reduce((sum, c) => sum + measure(c), 0) / tasks;
  const rates = [1, 4, 16, 64]
    .filter((k) => k <= tries)
    .map((k) => {
      const share = meanOf((c) => passAtK(c, tries, k));
      return { k, share, interval: shareInterval(share * tasks, tasks) };
    });
  // groups as large as the tries or smaller have an unbiased estimate; for larger ones the task's share is taken as its rate
  const deadShare = (c: number) =>
    groupSize <= tries
      ? 2 - passAtK(c, tries, groupSize) - passAtK(tries - c, tries, groupSize)
      : groupOutlook(c / tries, groupSize).dead;
  return { tasks, tries, rates, neverSolved: solved.filter((c) => c === 0).length, dead: meanOf(deadShare) };
}

const percent = (share: number) => `${Math.round(100 * share)} %`;

/** “pass@4: 61 % (95 %: 42 to 78 %)”. */
export function rateText({ k, share, interval }: PassRate): string {
  return `pass@${k}: ${percent(share)} (${intervalText(interval, (each) => String(Math.round(100 * each)), ' %')})`;
}

/** What RL can expect of such a policy, without a promise. */
export function gateSentences(
  { tasks, tries, rates, neverSolved, dead }: PassGate,
  groupSize: number,
): readonly string[] {
  const [first] = rates;
  const outlook =
    neverSolved === tasks
      ? 'RL strengthens what is drawn at times, and here success never was. Imitation first, or a reward for progress.'
      : neverSolved > 0
        ? `RL strengthens what is drawn at times. Those ${neverSolved} it reaches only through what other tasks teach, or after imitation.`
        : first && first.share > 0.9
          ? 'RL has little left to improve here.'
          : 'RL has something to strengthen in every task.';
  const solvedText =
    neverSolved === 0
      ? `All ${tasks} tasks were solved at least once`
      : `${neverSolved} of ${tasks} tasks were never solved`;
  return [
    `${solvedText} in ${tries} tries. ${outlook}`,
    `${percent(dead)} of groups of ${groupSize} would be all right or all wrong. They teach nothing if success alone is paid.`,
  ];
}

/** How groups of `size` rollouts come out if each rollout succeeds with probability `p`, independently. */
interface GroupOutlook {
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
