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

/** The place of the step nearest to a number in ascending steps; the first for NaN. */
export function nearestStep(steps: readonly StepMeans[], step: number): number {
  let [low, high] = [0, steps.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (steps[middle]!.step < step) low = middle + 1;
    else high = middle;
  }
  const before = steps[low - 1];
  return before && Math.abs(before.step - step) <= Math.abs((steps[low]?.step ?? 0) - step) ? low - 1 : low;
}

/** Means of each step that any of `list` has. Lengths are in tokens where every rollout of the list has some. */
export function meansByStep(columns: Columns, list: Int32Array): MeansByStep {
  const unit = list.every((row) => !Number.isNaN(columns.tokens[row]!)) ? 'tokens' : 'characters';
  const places = placesOf(columns.step, list);
  const rollouts = new Uint32Array(places.steps.length);
  for (const place of places.of) if (place >= 0) rollouts[place]!++;
  const means = (from: ArrayLike<number>, absent = NaN) => {
    const [sums, counts] = [new Float64Array(places.steps.length), new Uint32Array(places.steps.length)];
    list.forEach((row, i) => {
      const [value, place] = [from[row]!, places.of[i]!];
      if (place < 0 || Number.isNaN(value) || value === absent) return;
      sums[place]! += value;
      counts[place]!++;
    });
    return sums.map((sum, place) => sum / counts[place]!); // 0 / 0: no rollout says it
  };
  const named = {
    reward: means(columns.reward),
    success: means(columns.success, -1),
    turns: means(columns.turns),
    toolCalls: means(columns.toolCalls),
    length: means(columns[unit]),
  };
  const steps: StepMeans[] = [];
  for (let i = 0; i < places.steps.length; i++) {
    // field by field: a hundred thousand objects that are spread take ten times as long
    steps.push({
      step: places.steps[i]!,
      rollouts: rollouts[i]!,
      reward: named.reward[i]!,
      success: named.success[i]!,
      turns: named.turns[i]!,
      toolCalls: named.toolCalls[i]!,
      length: named.length[i]!,
    });
  }
  return { steps, unit };
}

/** The steps of a list, ascending, and the place of each row's step among them; −1 where it has none. */
function placesOf(step: Float64Array, list: Int32Array): { readonly steps: Float64Array; readonly of: Int32Array } {
  const places = new Map<number, number>();
  for (const row of list) if (!Number.isNaN(step[row]!)) places.set(step[row]!, 0);
  const steps = Float64Array.from(places.keys()).sort();
  steps.forEach((each, i) => places.set(each, i));
  return { steps, of: Int32Array.from(list, (row) => places.get(step[row]!) ?? -1) };
}
