import type { Columns } from './columns.ts';

/** What a list of rollouts is ordered by. */
export type Order = 'step' | 'group' | 'reward';

/** Which rollouts are listed. Ends are included; null: no bound. */
export interface Filter {
  readonly minReward: number | null;
  readonly maxReward: number | null;
  readonly minStep: number | null;
  readonly maxStep: number | null;
  readonly minCalls: number | null;
  readonly success: 'any' | 'solved' | 'failed';
}

/** The filter that lets everything through. */
export const NO_FILTER: Filter = {
  ...{ minReward: null, maxReward: null, minStep: null, maxStep: null, minCalls: null, success: 'any' },
};

/** All rows in order; what has no value comes last. It is made once for a table: what is listed changes with every letter that is typed. */
export function ordered(
  columns: Columns,
  rows: number,
  order: { readonly by: Order; readonly descending: boolean },
): Int32Array {
  return sorted(
    Int32Array.from({ length: rows }, (_, row) => row),
    columns,
    order,
  );
}

/** Those of `rows` that pass a filter, and are among `hits` where a search found some, as they are ordered. */
export function listed(
  rows: Int32Array,
  columns: Columns,
  filter: Filter,
  hits: ReadonlySet<number> | null,
): Int32Array {
  const passes = passing(columns, filter);
  return rows.filter((row) => passes(row) && (hits === null || hits.has(row)));
}

/** Whether a row passes; made once for all rows, of which there may be a million. */
function passing(columns: Columns, filter: Filter): (row: number) => boolean {
  const { reward, step, toolCalls, success } = columns;
  const { minReward, maxReward, minStep, maxStep, minCalls } = filter;
  const wanted = { any: null, solved: 1, failed: 0 }[filter.success];
  // a comparison with NaN is false: what has no value passes no bound
  return (row) =>
    (minReward === null || reward[row]! >= minReward) &&
    (maxReward === null || reward[row]! <= maxReward) &&
    (minStep === null || step[row]! >= minStep) &&
    (maxStep === null || step[row]! <= maxStep) &&
    (minCalls === null || toolCalls[row]! >= minCalls) &&
    (wanted === null || success[row] === wanted);
}

function sorted(list: Int32Array, columns: Columns, order: { readonly by: Order; readonly descending: boolean }) {
  const { step, reward, group } = columns;
  const sign = order.descending ? -1 : 1;
  const compare = (a: number, b: number): number => {
    if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
    return sign * (a - b);
  };
  const grouped = (row: number) => (group[row]! < 0 ? NaN : group[row]!);
  const by = {
    step: (a: number, b: number) => compare(step[a]!, step[b]!),
    reward: (a: number, b: number) => compare(reward[a]!, reward[b]!),
    group: (a: number, b: number) => compare(grouped(a), grouped(b)),
  }[order.by];
  // files are mostly in order already, and sorting what is costs as much as sorting what is not
  let at = 1;
  while (at < list.length && by(list[at - 1]!, list[at]!) <= 0) at++;
  return at >= list.length ? list : list.sort((a, b) => by(a, b) || a - b);
}

/** The means of a step. Share of success and means are over those rollouts that say them; NaN: none does. */
export interface StepMeans {
  readonly step: number;
  readonly rollouts: number;
  readonly reward: number;
  readonly success: number;
  readonly turns: number;
  readonly toolCalls: number;
  readonly length: number; // tokens, or characters where the files have no ids
}

/** Names of what is averaged over the rollouts of a step. */
export const STEP_MEANS = ['reward', 'success', 'turns', 'toolCalls', 'length'] as const;
export type StepMean = (typeof STEP_MEANS)[number];

/** Means of steps, ascending, and what their lengths are in. */
export interface MeansByStep {
  readonly steps: readonly StepMeans[];
  readonly unit: 'tokens' | 'characters';
}

/** Means of each step that any of `list` has. Lengths are in tokens where every rollout of the list has some. */
export function meansByStep(columns: Columns, list: Int32Array): MeansByStep {
  const unit = list.every((row) => !Number.isNaN(columns.tokens[row]!)) ? 'tokens' : 'characters';
  const sums = new Map<number, Record<StepMean, { sum: number; count: number }> & { rollouts: number }>();
  const none = () => ({ sum: 0, count: 0 });
  for (const row of list) {
    const step = columns.step[row]!;
    if (Number.isNaN(step)) continue;
    let at = sums.get(step);
    if (!at)
      sums.set(
        step,
        (at = { rollouts: 0, reward: none(), success: none(), turns: none(), toolCalls: none(), length: none() }),
      );
    at.rollouts++;
    add(at.reward, columns.reward[row]!);
    add(at.success, columns.success[row]! < 0 ? NaN : columns.success[row]!);
    add(at.turns, columns.turns[row]!);
    add(at.toolCalls, columns.toolCalls[row]!);
    add(at.length, columns[unit][row]!);
  }
  const mean = ({ sum, count }: { sum: number; count: number }) => (count > 0 ? sum / count : NaN);
  const steps = [...sums]
    .sort(([a], [b]) => a - b)
    .map(([step, { rollouts, ...of }]) => ({
      ...{ step, rollouts, reward: mean(of.reward), success: mean(of.success), turns: mean(of.turns) },
      ...{ toolCalls: mean(of.toolCalls), length: mean(of.length) },
    }));
  return { steps, unit };
}

function add(to: { sum: number; count: number }, value: number): void {
  if (Number.isNaN(value)) return;
  to.sum += value;
  to.count++;
}
