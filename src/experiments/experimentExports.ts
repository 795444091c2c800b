import { csvText } from '../base/csv.ts';
import type { Row, Table } from './resultTable.ts';
import type { PairedComparison } from '../base/statistics.ts';
import {
  comparedWithText,
  cellText,
  differenceHeading,
  differenceCellText,
  isReference,
  numberText,
  tableNotes,
  publishedNote,
  publishedText,
} from './wording.ts';
import { FIELDS, type Field, type FieldName, type RunConfig } from '../config/config.ts';
import { headlineColumn, isRunArm, type Search } from './experimentDefinition.ts';
import type { Plan } from './experimentPlan.ts';

/** One column of a table of results, in each form that the table has. */
export interface ResultColumn {
  readonly key: string;
  readonly heading: string;
  readonly kind: 'arm' | 'number' | 'headline' | 'difference' | 'published';
  readonly text: (row: Row) => string;
  /** Headings and values in CSV: unrounded, with separate columns for n, mean and standard deviation. */
  readonly csv: { readonly headings: readonly string[]; readonly values: (row: Row) => readonly (string | number)[] };
}

/** The columns of a table of results: the page, Markdown and CSV are made from them. */
export function resultColumns(table: Table): readonly ResultColumn[] {
  const { experiment } = table;
  const { published, search } = experiment;
  if (search) return searchColumns(table, search);
  return [
    {
      ...{ key: 'arm', heading: 'Variant', kind: 'arm', text: ({ arm }) => arm.label },
      csv: { headings: ['group', 'arm'], values: ({ arm }) => [arm.group ?? '', arm.label] },
    },
    {
      ...{ key: 'n', heading: 'n', kind: 'number', text: ({ runs }) => String(runs) },
      csv: { headings: ['runs'], values: ({ runs }) => [runs] },
    },
    ...experiment.columns.map((column, i): ResultColumn => ({
      ...{ key: column.key, heading: column.label, kind: column.key === experiment.headline ? 'headline' : 'number' },
      text: ({ cells, runs }) => cellText(cells[i] ?? null, column, runs),
      csv: {
        headings: ['mean', 'sd', 'n'].map((part) => `${column.label}: ${part}`),
        values: ({ cells }) => {
          const cell = cells[i];
          return cell ? [cell.mean, cell.sd, cell.n] : ['', '', ''];
        },
      },
    })),
    {
      ...{ key: 'difference', heading: differenceHeading(table), kind: 'difference' },
      text: (row) => differenceCell(table, row),
      csv: {
        headings: ['against', ...DIFFERENCE_PARTS.map(([name]) => `difference: ${name}`)],
        values: ({ arm, difference }) => [
          arm.comparedWith ?? '',
          ...DIFFERENCE_PARTS.map(([, value]) => (difference ? value(difference) : '')),
        ],
      },
    },
    ...(published?.columns ?? []).map((label, i): ResultColumn => ({
      ...{ key: `published ${label}`, heading: label, kind: 'published' },
      text: ({ arm }) => publishedText(arm.published?.[i]),
      csv: {
        headings: [`published, ${published?.model}, ${published?.task}: ${label}`],
        values: ({ arm }) => [arm.published?.[i] ?? ''],
      },
    })),
  ];
}

/** The columns of a sweep: the searched knobs, then the headline column over all seeds and for each seed. */
function searchColumns({ experiment, plan }: Table, { knobs }: Search): readonly ResultColumn[] {
  const at = experiment.columns.findIndex(({ key }) => key === experiment.headline);
  const mean = ({ cells }: Row) => (cells[at]?.n ? cells[at].mean : null);
  const n = ({ cells }: Row) => cells[at]?.n ?? 0;
  const knobColumn = (knob: FieldName): ResultColumn => {
    const value = ({ arm }: Row) => (isRunArm(arm) ? (arm.set[knob] ?? '') : '');
    return {
      ...{ key: knob, heading: knob, kind: 'arm', text: (row) => String(value(row)) },
      csv: { headings: [knob], values: (row) => [value(row)] },
    };
  };
  return [
    ...knobs.map(knobColumn),
    {
      ...{ key: 'n', heading: 'n', kind: 'number', text: (row) => String(n(row)) },
      csv: { headings: ['n'], values: (row) => [n(row)] },
    },
    {
      ...{ key: 'mean', heading: 'mean', kind: 'headline', text: (row) => numberText(mean(row)) },
      csv: { headings: [`${experiment.headline}: mean`], values: (row) => [mean(row) ?? ''] },
    },
    {
      ...{ key: 'interval', heading: '95 % interval', kind: 'number' },
      text: ({ interval }) =>
        interval ? `${numberText(interval.low)} to ${numberText(interval.high)}` : numberText(null),
      csv: {
        headings: ['t 95 % low', 't 95 % high'],
        values: ({ interval }) => [interval?.low ?? '', interval?.high ?? ''],
      },
    },
    ...plan.seeds.map((seed, i): ResultColumn => ({
      ...{ key: `seed ${seed}`, heading: `seed ${seed}`, kind: 'number', text: ({ values }) => numberText(values[i]) },
      csv: { headings: [`seed ${seed}`], values: ({ values }) => [values[i] ?? ''] },
    })),
  ];
}

const DIFFERENCE_PARTS: readonly (readonly [name: string, value: (d: PairedComparison) => string | number])[] = [
  ['mean', ({ mean }) => mean],
  ['sd', ({ sd }) => sd],
  ['n', ({ n }) => n],
  ['t 95 % low', ({ interval }) => interval?.low ?? ''],
  ['t 95 % high', ({ interval }) => interval?.high ?? ''],
  ['better', ({ better }) => better],
  ['tied', ({ tied }) => tied],
  ['sign test p', ({ p }) => p],
  ['p corrected', ({ corrected }) => corrected],
];

function differenceCell(table: Table, row: Row): string {
  const against = comparedWithText(table, row);
  if (against !== '') return `${differenceCellText(row.difference)}; compared with ${against}`;
  return isReference(table, row) ? 'reference' : differenceCellText(null);
}

export function tableMarkdown(table: Table): string {
  const { experiment, rows, plan } = table;
  const columns = resultColumns(table).filter(
    ({ kind }) => kind !== 'difference' || rows.some(({ difference }) => difference),
  );
  const grouped = rows.some(({ arm }) => arm.group);
  const source = `Published, ${experiment.published?.model ?? ''}: `;
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [
    `### ${[experiment.label, experiment.question].filter((part) => part !== '').join(': ')}`,
    '',
    line([
      ...(grouped ? ['Group'] : []),
      ...columns.map(({ kind, heading }) => `${kind === 'published' ? source : ''}${heading}`),
    ]),
    line([...(grouped ? ['---'] : []), ...columns.map(({ kind }) => (kind === 'arm' ? '---' : '---:'))]),
    ...rows.map((row) => line([...(grouped ? [row.arm.group ?? ''] : []), ...columns.map(({ text }) => text(row))])),
    '',
    ...tableNotes(table),
    ...(experiment.published ? [`Published: ${publishedNote(table)}`] : []),
    '',
    ...(experiment.doc ? [experiment.doc, ''] : []),
    `Settings: ${sharedKnobsText(plan)}.`,
    '',
  ].join('\n');
}

/** A table as CSV: one line for each arm. */
export function tableCsv(table: Table): string {
  const columns = resultColumns(table);
  return csvText([
    columns.flatMap(({ csv }) => csv.headings),
    ...table.rows.map((row) => columns.flatMap(({ csv }) => csv.values(row))),
  ]);
}

/** The headline column for programs: for each arm its values by seed, their mean and its 95 % t interval. */
export function tableJson({ plan, experiment, rows, done, planned }: Table): string {
  const { measure } = headlineColumn(experiment) ?? {};
  const { search } = experiment;
  const at = experiment.columns.findIndex(({ key }) => key === experiment.headline);
  const head = {
    ...(search ? { preset: search.preset, set: search.set } : { experiment: plan.name }),
    ...{ seeds: plan.seeds, ...(typeof measure === 'object' ? measure : { metric: measure }) },
    ...{ better: search?.better, done, planned },
  };
  const tableRows = rows.map(({ arm, cells, values, interval }) => {
    const { n, mean } = cells[at] ?? { n: 0, mean: NaN };
    return {
      ...(search && isRunArm(arm) ? { knobs: arm.set } : { arm: arm.key }),
      n,
      mean: n > 0 ? mean : null,
      interval,
      values,
    };
  });
  return `${JSON.stringify({ ...head, rows: tableRows }, null, 1)}\n`;
}

/** The knobs of a plan that are common to all arms and not at their defaults, as `name value`. */
export function sharedKnobsText({ experiment, set }: Plan): string {
  const shared: Partial<RunConfig> = { ...experiment.shared, ...set };
  const changes = (Object.entries(FIELDS) as [FieldName, Field][]).flatMap(([knob, field]) => {
    const value = shared[knob];
    return value === undefined || value === field.default ? [] : [`${knob} ${value}`];
  });
  return changes.join(', ');
}
