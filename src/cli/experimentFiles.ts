import { appendFileSync, existsSync, readFileSync, statSync, truncateSync } from 'node:fs';
import path from 'node:path';
import type { ExperimentName } from '../experiments/experimentList.ts';
import { csvOf, markdownOf } from '../experiments/experimentExports.ts';
import { parseResults, type RunResult } from '../experiments/runResult.ts';
import type { Table } from '../experiments/resultTable.ts';
import { fileError, writableFolder, writeWhole } from './files.ts';

/** Where an experiment's results lie: NAME.jsonl holds a line for each finished run, NAME.md and NAME.csv the table. */
export interface ResultFiles {
  readonly read: () => RunResult[];
  readonly append: (result: RunResult) => void;
  readonly write: (table: Table) => Promise<string>; // the Markdown
}

/** Opens the folder, making it; `say` hears of lines that are no results. Each of these throws FileError. */
export async function resultFiles(
  folder: string,
  name: ExperimentName,
  say: (line: string) => void,
): Promise<ResultFiles> {
  await writableFolder(folder);
  const file = (ending: string) => path.join(folder, `${name}.${ending}`);
  const lines = file('jsonl');
  return {
    read: () => {
      if (!existsSync(lines)) return [];
      const text = reading(lines);
      // a run that was cut off while it wrote must not swallow the next one's line
      if (text !== '' && !text.endsWith('\n')) append(lines, '\n');
      const { results, bad } = parseResults(text);
      for (const line of bad) say(`${lines}:${line}: not a result of this version; left out.`);
      return [...results];
    },
    append: (result) => append(lines, `${JSON.stringify(result)}\n`),
    write: async (table) => {
      const markdown = markdownOf(table);
      await writeWhole(file('md'), markdown);
      await writeWhole(file('csv'), csvOf(table));
      return markdown;
    },
  };
}

function reading(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw fileError(file, 'read', error);
  }
}

/** Adds a line, or leaves the file as it was. */
function append(file: string, line: string): void {
  const before = existsSync(file) ? statSync(file).size : null;
  try {
    appendFileSync(file, line);
  } catch (error) {
    if (before !== null && existsSync(file) && statSync(file).isFile()) truncateSync(file, before); // no half a line
    throw fileError(file, 'written', error);
  }
}
