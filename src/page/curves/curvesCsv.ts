import { csvText } from '../../base/csv.ts';
import { metricWords } from '../../domain/evaluationSet.ts';
import type { RunConfig } from '../../config/fields.ts';
import type { CurveName } from '../../domain/metrics.ts';

/** One column of a table: values `y` at ascending updates `x`. Shapes: (points). */
export interface CsvColumn {
  readonly title: string;
  readonly x: ArrayLike<number>;
  readonly y: ArrayLike<number>;
}

/** A header, then a line for each update that any curve has. Numbers have all their digits; a value that wasn't measured is empty. */
export function csvOfCurves(columns: readonly CsvColumn[]): string {
  const values = columns.map(({ x, y }) => new Map(Array.from(x, (update, i) => [update, y[i]] as const)));
  const updates = [...new Set(values.flatMap((column) => [...column.keys()]))].sort((a, b) => a - b);
  const head = ['update', ...columns.map(({ title }) => title)];
  const lines = updates.map((update) => [update, ...values.map((column) => column.get(update) ?? '')]);
  return csvText([head, ...lines]);
}

/** The heading of a metric's column: label, unit (1 for a plain number), key. */
export function columnTitle(metric: CurveName, config: RunConfig): string {
  const { label, unit } = metricWords(metric, config);
  return `${label} (${unit || '1'}) [${metric}]`;
}
