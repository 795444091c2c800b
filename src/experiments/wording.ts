import { differenceText } from '../base/inferenceWords.ts';
import { DEFAULTS } from '../config/fields.ts';
import { type Column, isRunArm } from './experimentDefinition.ts';
import type { PairedComparison, Summary } from '../base/statistics.ts';
import type { Row, Table } from './resultTable.ts';

const DIGITS = 3;
const NO_VALUE = '–';

/** A cell as text: mean ± standard deviation, and how many runs have the number, if not all do. */
export function cellText(cell: Summary | null, column: Column, runs: number): string {
  if (!cell || runs === 0) return NO_VALUE;
  if (cell.n === 0) return column.emptyText ?? NO_VALUE;
  const digits = column.digits ?? DIGITS;
  const spread = Number.isNaN(cell.sd) ? '' : ` ± ${cell.sd.toFixed(digits)}`;
  const partialCount = cell.n < runs ? ` (${cell.n} of ${runs})` : '';
  return `${minus(cell.mean.toFixed(digits))}${spread}${partialCount}`;
}

export function differenceCellText(difference: PairedComparison | null): string {
  return difference && difference.n > 0 ? differenceText(difference, { format: withSign }) : NO_VALUE;
}

function withSign(value: number): string {
  return `${value > 0 ? '+' : ''}${minus(value.toFixed(DIGITS))}`;
}

/** A number of a table; a dash if there is none. */
export function numberText(value: number | null | undefined): string {
  return value == null ? NO_VALUE : minus(value.toFixed(DIGITS));
}

/** A published number, with the digits that were published. */
export function publishedText(value: number | null | undefined): string {
  return value == null ? NO_VALUE : String(value);
}

export function differenceHeading({ experiment }: Table): string {
  const headline = experiment.columns.find(({ key }) => key === experiment.headline)?.label ?? '';
  return `${headline}: difference to the reference with the same seed`;
}

/** The label of the arm that a row is compared with; '' if there is none. */
export function comparedWithText({ experiment }: Table, { arm }: Row): string {
  return experiment.arms.find(({ key }) => key === arm.comparedWith)?.label ?? '';
}

/** Whether other arms are compared with this row's arm. */
export function isReference({ experiment }: Table, { arm }: Row): boolean {
  return experiment.arms.some(({ comparedWith }) => comparedWith === arm.key);
}

/** The source, model and task of the published columns, in sentences. */
export function publishedNote({ experiment: { published } }: Table): string {
  if (!published) return '';
  const { source, model, task, note = '' } = published;
  return `${source}: ${model}, ${task}. Another model and another task: none of it belongs on our axis. ${note}`.trim();
}

export function tableNotes(table: Table): string[] {
  const { plan, experiment, done, shipped, planned, backends } = table;
  const { seeds, set } = plan;
  const armUpdates = table.rows.flatMap(({ arm }) =>
    isRunArm(arm) ? [arm.set.updates ?? experiment.shared.updates ?? DEFAULTS.updates] : [],
  );
  const counts = new Set(set.updates === undefined ? armUpdates : [set.updates]);
  const [fewest, most] = [Math.min(...counts), Math.max(...counts)];
  const length = fewest === most ? `${most} updates each` : `with ${fewest} to ${most} updates`;
  const seedsText = seeds.every((seed, i) => seed === i + 1) ? `1 … ${seeds.length}` : seeds.join(', ');
  const comparisons = table.rows.filter(({ difference }) => difference && difference.n > 0).length;
  const compared =
    comparisons > 1
      ? ` Of ${comparisons} comparisons one may look good by chance, so p is corrected for their number (Benjamini–Hochberg). “Cannot tell” stands where the corrected p is .05 or more.`
      : ' “Cannot tell” stands where p is .05 or more. Fewer than six seeds never get below it.';
  return [
    ...(shipped > 0
      ? [
          `${shipped === done ? 'All' : shipped} of these runs come with the page and were not run here. Your own runs replace them.`,
        ]
      : []),
    `${done} of ${planned} runs, seeds ${seedsText}, ${length}${backends.length > 0 ? `, ${backends.join('; ')}` : ''}.`,
    experiment.search
      ? SEARCH_NOTE
      : `Mean ± sample standard deviation (n − 1) over seeds. Differences are taken seed by seed, on the same tasks. “95 %” is the confidence interval of the mean difference (paired t-test over the seeds). The exact sign test looks at the number of seeds for which one side is better; ties are left out. Its p says how often chance alone would give a result at least as uneven, if both sides were equally good. The interval and the test can disagree. The table goes by the test: it only asks which side was better, and assumes nothing about how differences are distributed.${compared}`,
  ];
}

const SEARCH_NOTE = 'Best first. The interval is the 95 % t interval of the mean over seeds.';

function minus(text: string): string {
  return text.replace('-', '−');
}
