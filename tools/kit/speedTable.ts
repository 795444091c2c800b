import type { AdapterReport } from '../../src/domain/adapterReport.ts';
import { isRecord } from '../../src/base/jsonRecord.ts';

const NOT_MEASURED = '–';

/**
 * A report as a table in Markdown: a line for each engine that ran, a column for each part that engines took turns in.
 * Above it, the machine, the reference numbers and the fastest products.
 */
export function speedTable(report: AdapterReport): string {
  const columns = report.parts.flatMap(({ name, numbers }) => {
    const cells = isRecord(numbers) && isRecord(numbers['cells']) ? numbers['cells'] : null;
    return cells ? [{ name, cells }] : [];
  });
  const engines = [...new Set(columns.flatMap(({ cells }) => Object.keys(cells)))];
  const heading = (name: string) => (name.startsWith('W') ? `${name} step` : name === 'G1' ? 'G1, tokens/s' : name);
  const cellText = (cell: unknown) => (typeof cell === 'string' ? cell : NOT_MEASURED);
  const rows = engines.map((engine) => [engine, ...columns.map(({ cells }) => cellText(cells[engine]))]);
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [
    `${report.adapter || 'no adapter'}${report.software ? ' (a CPU behind a GPU’s interface)' : ''}; ${report.platform}; ${report.cores} cores; ${report.date.slice(0, 10)}`,
    Object.entries(report.versions ?? {})
      .map(([name, version]) => `${name} ${version}`)
      .join(', '),
    `Goldens: ${goldensText(report)}. ${productsText(report)}`,
    '',
    line(['engine', ...columns.map(({ name }) => heading(name))]),
    line(['---', ...columns.map(() => '---:')]),
    ...rows.map(line),
    '',
  ].join('\n');
}

/** How many reference numbers are within bounds, of all that were compared. */
function goldensText({ parts }: Pick<AdapterReport, 'parts'>): string {
  const counts = parts.flatMap(({ name, numbers }) => {
    if (!name.startsWith('goldens') || !isRecord(numbers)) return [];
    const { checked, outOfBounds } = numbers;
    return typeof checked === 'number' && Array.isArray(outOfBounds) ? [{ checked, out: outOfBounds.length }] : [];
  });
  if (counts.length === 0) return 'none compared';
  const all = counts.reduce((sum, { checked }) => sum + checked, 0);
  return `${all - counts.reduce((sum, { out }) => sum + out, 0)} of ${all}`;
}

function productsText({ parts }: Pick<AdapterReport, 'parts'>): string {
  const numbers = parts.find(({ name }) => name === 'products')?.numbers;
  return isRecord(numbers) && typeof numbers['summary'] === 'string' ? `Products: ${numbers['summary']}.` : '';
}
