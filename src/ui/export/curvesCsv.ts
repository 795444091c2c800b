import { csvText } from '../../base/csv.ts';
import { metricWords } from '../../domain/evaluationSet.ts';
import type { RunConfig } from '../../config/fields.ts';
import type { MetricName } from '../../domain/metrics.ts';

/** One column of a table: values at updates that rise; both (points). */
export interface Column {
  readonly title: string;
  readonly x: ArrayLike<number>;
  readonly y: ArrayLike<number>;
}

/**
 * Curves as CSV: one line for each update that any of them has, all digits, empty where one was not measured. The header names
 * each column.
 */
export function csvOfCurves(columns: readonly Column[]): string {
  const values = columns.map(({ x, y }) => new Map(Array.from(x, (update, i) => [update, y[i]] as const)));
  const updates = [...new Set(values.flatMap((column) => [...column.keys()]))].sort((a, b) => a - b);
  const head = ['update', ...columns.map(({ title }) => title)];
  const lines = updates.map((update) => [update, ...values.map((column) => column.get(update) ?? '')]);
  return csvText([head, ...lines]);
}

/** A metric as a column's head: label, unit (1 for a plain number), key. */
export function headOf(metric: MetricName, config: RunConfig): string {
  const { label, unit } = metricWords(metric, config);
  return `${label} (${unit || '1'}) [${metric}]`;
}
