import type { Columns } from './columns.ts';

export type SortColumn = 'step' | 'group' | 'reward';

/** The conditions for a rollout to be listed. Bounds are inclusive; null means no bound. */
export interface Filter {
  readonly minReward: number | null;
  readonly maxReward: number | null;
  readonly minStep: number | null;
  readonly maxStep: number | null;
  readonly minCalls: number | null;
  readonly success: 'any' | 'solved' | 'failed';
}

export const NO_FILTER: Filter = {
  ...{ minReward: null, maxReward: null, minStep: null, maxStep: null, minCalls: null, success: 'any' },
};

/** Without withdrawn rows. Rows without a value come last. Sort a table once, then use `filteredRows`: the filter changes with every typed character. */
export function sortedRows(
  columns: Columns,
  rows: number,
  order: { readonly by: SortColumn; readonly descending: boolean },
): Int32Array {
  return sortRows(
    Int32Array.from({ length: rows }, (_, row) => row).filter((row) => columns.file[row]! >= 0),
    columns,
    order,
  );
}

/** Keeps their order. If `hits` (results of a search) is not null, only those among the hits. */
export function filteredRows(
  rows: Int32Array,
  columns: Columns,
  filter: Filter,
  hits: ReadonlySet<number> | null,
): Int32Array {
  const passes = rowTest(columns, filter);
  return rows.filter((row) => passes(row) && (hits === null || hits.has(row)));
}

/** Makes a test that tells whether a row passes the filter. It is made once, because there may be a million rows. */
function rowTest(columns: Columns, filter: Filter): (row: number) => boolean {
  const { reward, step, toolCalls, success } = columns;
  const { minReward, maxReward, minStep, maxStep, minCalls } = filter;
  const wanted = { any: null, solved: 1, failed: 0 }[filter.success];
  // a comparison with NaN is false, so a row without a value passes no bound
  return (row) =>
    (minReward === null || reward[row]! >= minReward) &&
    (maxReward === null || reward[row]! <= maxReward) &&
    (minStep === null || step[row]! >= minStep) &&
    (maxStep === null || step[row]! <= maxStep) &&
    (minCalls === null || toolCalls[row]! >= minCalls) &&
    (wanted === null || success[row] === wanted);
}

function sortRows(
  rows: Int32Array,
  columns: Columns,
  order: { readonly by: SortColumn; readonly descending: boolean },
) {
  const { step, reward, group } = columns;
  const sign = order.descending ? -1 : 1;
  const compare = (a: number, b: number): number => {
    if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
    return sign * (a - b);
  };
  const groupKey = (row: number) => (group[row]! < 0 ? NaN : group[row]!);
  const compareRows = {
    step: (a: number, b: number) => compare(step[a]!, step[b]!),
    reward: (a: number, b: number) => compare(reward[a]!, reward[b]!),
    group: (a: number, b: number) => compare(groupKey(a), groupKey(b)),
  }[order.by];
  // most files are in order already, and sorting a sorted list costs as much as any other
  let at = 1;
  while (at < rows.length && compareRows(rows[at - 1]!, rows[at]!) <= 0) at++;
  return at >= rows.length ? rows : rows.sort((a, b) => compareRows(a, b) || a - b);
}

/** The means over the rollouts of one step. Each is over the rollouts that have the value; NaN if none has. */
export interface StepMeans {
  readonly step: number;
  readonly rollouts: number;
  readonly reward: number;
  readonly success: number;
  readonly turns: number;
  readonly toolCalls: number;
  readonly length: number; // in the `unit` of MeansByStep
}

/** The values that are averaged over the rollouts of a step. */
export const STEP_MEANS = ['reward', 'success', 'turns', 'toolCalls', 'length'] as const;
export type StepMean = (typeof STEP_MEANS)[number];

/** The means of all steps, ascending, and the unit of their lengths. */
export interface MeansByStep {
  readonly steps: readonly StepMeans[];
  readonly unit: 'tokens' | 'characters';
}

/** The index of the step nearest to `step` in ascending `steps`; 0 for NaN. */
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

/** Lengths are in tokens if every one of these rollouts has token ids, otherwise in characters. */
export function meansByStep(columns: Columns, rows: Int32Array): MeansByStep {
  const unit = rows.every((row) => !Number.isNaN(columns.tokens[row]!)) ? 'tokens' : 'characters';
  const stepIndex = indexSteps(columns.step, rows);
  const rollouts = new Uint32Array(stepIndex.steps.length);
  for (const index of stepIndex.indexOfRow) if (index >= 0) rollouts[index]!++;
  const means = (column: ArrayLike<number>, absent = NaN) => {
    const [sums, counts] = [new Float64Array(stepIndex.steps.length), new Uint32Array(stepIndex.steps.length)];
    rows.forEach((row, i) => {
      const [value, index] = [column[row]!, stepIndex.indexOfRow[i]!];
      if (index < 0 || Number.isNaN(value) || value === absent) return;
      sums[index]! += value;
      counts[index]!++;
    });
    return sums.map((sum, index) => sum / counts[index]!); // NaN (0 / 0) if no rollout has the value
  };
  const byName = {
    reward: means(columns.reward),
    success: means(columns.success, -1),
    turns: means(columns.turns),
    toolCalls: means(columns.toolCalls),
    length: means(columns[unit]),
  };
  const steps: StepMeans[] = [];
  for (let i = 0; i < stepIndex.steps.length; i++) {
    // field by field, because spreading a hundred thousand objects takes ten times as long
    steps.push({
      step: stepIndex.steps[i]!,
      rollouts: rollouts[i]!,
      reward: byName.reward[i]!,
      success: byName.success[i]!,
      turns: byName.turns[i]!,
      toolCalls: byName.toolCalls[i]!,
      length: byName.length[i]!,
    });
  }
  return { steps, unit };
}

/** The steps in a list, ascending, and for each row the index of its step; −1 if it has none. */
function indexSteps(
  step: Float64Array,
  rows: Int32Array,
): { readonly steps: Float64Array; readonly indexOfRow: Int32Array } {
  const indexOfStep = new Map<number, number>();
  for (const row of rows) if (!Number.isNaN(step[row]!)) indexOfStep.set(step[row]!, 0);
  const steps = Float64Array.from(indexOfStep.keys()).sort();
  steps.forEach((each, i) => indexOfStep.set(each, i));
  return { steps, indexOfRow: Int32Array.from(rows, (row) => indexOfStep.get(step[row]!) ?? -1) };
}
