import { csvText } from '../base/csv.ts';
import type { Table } from './resultTable.ts';
import {
  comparedWithText,
  cellText,
  differenceHeading,
  differenceText,
  isReference,
  tableNotes,
  publishedNote,
  publishedText,
} from './wording.ts';
import { FIELDS, type Field, type FieldName } from '../config/config.ts';
import { EXPERIMENTS } from './experimentList.ts';
import type { Experiment } from './experimentDefinition.ts';
import type { Plan } from './experimentPlan.ts';

/** A table in GitHub's Markdown, with the settings and the source of the published columns. */
export function tableMarkdown(table: Table): string {
  const { experiment, rows, plan } = table;
  const published = experiment.published?.columns ?? [];
  const differences = rows.some(({ difference }) => difference);
  const grouped = rows.some(({ arm }) => arm.group);
  const head = [
    ...(grouped ? ['Group'] : []),
    'Variant',
    'n',
    ...experiment.columns.map(({ label }) => label),
    ...(differences ? [differenceHeading(table)] : []),
    ...published.map((label) => `Published, ${experiment.published?.model ?? ''}: ${label}`),
  ];
  const body = rows.map((row) => [
    ...(grouped ? [row.arm.group ?? ''] : []),
    row.arm.label,
    String(row.runs),
    ...experiment.columns.map((column, i) => cellText(row.cells[i] ?? null, column, row.runs)),
    ...(differences ? [differenceCell(table, row)] : []),
    ...published.map((_, i) => publishedText(row.arm.published?.[i])),
  ]);
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [
    `### ${experiment.label}: ${experiment.question}`,
    '',
    line(head),
    line(head.map((_, i) => (i < (grouped ? 2 : 1) ? '---' : '---:'))),
    ...body.map(line),
    '',
    ...tableNotes(table),
    ...(published.length > 0 ? [`Published: ${publishedNote(table)}`] : []),
    '',
    experiment.doc,
    '',
    `Settings: ${sharedKnobsText(plan)}.`,
    '',
  ].join('\n');
}

function differenceCell(table: Table, row: Table['rows'][number]): string {
  const against = comparedWithText(table, row);
  if (against !== '') return `${differenceText(row.difference)}; compared with ${against}`;
  return isReference(table, row) ? 'reference' : differenceText(null);
}

/**
 * A table as CSV: one line for each arm, unrounded numbers, with separate columns for n, mean and standard deviation.
 */
export function tableCsv({ experiment, rows }: Table): string {
  const published = experiment.published;
  const head = [
    'group',
    'arm',
    'runs',
    ...experiment.columns.flatMap(({ label }) => [`${label}: mean`, `${label}: sd`, `${label}: n`]),
    'against',
    'difference: mean',
    'difference: sd',
    'difference: n',
    'difference: t 95 % low',
    'difference: t 95 % high',
    'difference: better',
    'difference: tied',
    'difference: sign test p',
    'difference: p corrected',
    ...(published?.columns.map((label) => `published, ${published.model}, ${published.task}: ${label}`) ?? []),
  ];
  const body = rows.map(({ arm, runs, cells, difference: d }): (string | number)[] => [
    arm.group ?? '',
    arm.label,
    runs,
    ...cells.flatMap((cell): (string | number)[] => (cell ? [cell.mean, cell.sd, cell.n] : ['', '', ''])),
    arm.comparedWith ?? '',
    ...(d
      ? [d.mean, d.sd, d.n, d.interval?.low ?? '', d.interval?.high ?? '', d.better, d.tied, d.p, d.corrected]
      : Array<string>(9).fill('')),
    ...(published?.columns.map((_, i) => arm.published?.[i] ?? '') ?? []),
  ]);
  return csvText([head, ...body]);
}

/** The knobs of a plan that are common to all arms and not at their defaults, as `name value`. */
export function sharedKnobsText({ experiment: name, updates, backend }: Plan): string {
  const { shared }: Experiment = EXPERIMENTS[name];
  const set = { ...shared, ...(updates === null ? {} : { updates }), backend };
  const changes = (Object.entries(FIELDS) as [FieldName, Field][]).flatMap(([knob, field]) => {
    const value = set[knob];
    return value === undefined || value === field.default ? [] : [`${knob} ${value}`];
  });
  return changes.join(', ');
}
