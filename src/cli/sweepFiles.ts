import path from 'node:path';
import { sweepCsv, sweepJson, sweepMarkdown } from '../sweeps/sweepExports.ts';
import type { SweepTable } from '../sweeps/sweepTable.ts';
import { writeWhole } from './files.ts';

/** Where the runs of a sweep lie in its folder. */
export const runsIn = (folder: string) => path.join(folder, 'runs');

/** Writes table.md, .csv and .json into the folder of a sweep; the Markdown. Throws ProblemError. */
export async function writeSweepTable(folder: string, table: SweepTable): Promise<string> {
  const markdown = sweepMarkdown(table);
  await writeWhole(path.join(folder, 'table.md'), markdown);
  await writeWhole(path.join(folder, 'table.csv'), sweepCsv(table));
  await writeWhole(path.join(folder, 'table.json'), sweepJson(table));
  return markdown;
}
