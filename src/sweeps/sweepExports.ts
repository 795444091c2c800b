import { csvText } from '../base/csv.ts';
import { PRESETS } from '../config/presets.ts';
import type { SweepTable, SweepRow } from './sweepTable.ts';

const DIGITS = 3; // decimal places in the table for people

export function sweepMarkdown(table: SweepTable): string {
  const { sweep, rows, done, planned } = table;
  const number = (value: number | null | undefined) => (value == null ? '–' : value.toFixed(DIGITS));
  const knobs = [...sweep.search.knobs.keys()];
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`;
  return [
    `${PRESETS[sweep.preset].label}: ${sweep.metric}, ${sweep.take}, ${sweep.better} is better; ${done} of ${planned} runs.`,
    '',
    line([...knobs, 'n', 'mean', '95 % interval', ...sweep.seeds.map((seed) => `seed ${seed}`)]),
    line([...knobs.map(() => '---'), ...Array.from({ length: 3 + sweep.seeds.length }, () => '---:')]),
    ...rows.map((row) => {
      const interval = row.interval ? `${number(row.interval.low)} to ${number(row.interval.high)}` : '–';
      return line([...knobCells(row, knobs), row.n, number(row.mean), interval, ...row.values.map(number)]);
    }),
    '',
  ].join('\n');
}

/** The table for spreadsheets, as CSV with unrounded numbers. */
export function sweepCsv({ sweep, rows }: SweepTable): string {
  const knobs = [...sweep.search.knobs.keys()];
  const head = [
    ...knobs,
    'n',
    `${sweep.metric}: mean`,
    't 95 % low',
    't 95 % high',
    ...sweep.seeds.map((s) => `seed ${s}`),
  ];
  const body = rows.map((row) => [
    ...knobCells(row, knobs),
    ...[
      row.n,
      row.mean ?? '',
      row.interval?.low ?? '',
      row.interval?.high ?? '',
      ...row.values.map((value) => value ?? ''),
    ],
  ]);
  return csvText([head, ...body]);
}

/** The table for programs, as JSON: the sweep's settings and the rows, best first. */
export function sweepJson({ sweep, rows, done, planned }: SweepTable): string {
  const { preset, set, seeds, metric, take, better } = sweep;
  const tableRows = rows.map(({ knobs, values, n, mean, interval }) => ({ knobs, n, mean, interval, values }));
  return `${JSON.stringify({ preset, set, seeds, metric, take, better, done, planned, rows: tableRows }, null, 1)}\n`;
}

function knobCells({ knobs }: SweepRow, names: readonly (keyof SweepRow['knobs'])[]): (string | number)[] {
  return names.map((name) => knobs[name] ?? '');
}
