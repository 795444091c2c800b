import path from 'node:path';
import { sweepCsv, sweepJson, sweepMarkdown } from '../sweeps/sweepExports.ts';
import type { SweepTable } from '../sweeps/sweepTable.ts';
import { writeWhole } from './files.ts';

/** The subfolder of a sweep's folder that holds the logs of its runs. */
export const runsFolder = (folder: string) => path.join(folder, 'runs');

/** Writes table.md, table.csv and table.json into the folder of a sweep. Returns the Markdown. Throws ProblemError. */
export async function writeSweepTable(folder: string, table: SweepTable): Promise<string> {
  const markdown = sweepMarkdown(table);
  await writeWhole(path.join(folder, 'table.md'), markdown);
  await writeWhole(path.join(folder, 'table.csv'), sweepCsv(table));
  await writeWhole(path.join(folder, 'table.json'), sweepJson(table));
  return markdown;
}
