import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ExperimentName } from '../experiments/catalogue.ts';
import { csvOf, markdownOf } from '../experiments/exports.ts';
import { parseResults, type RunResult } from '../experiments/result.ts';
import type { Table } from '../experiments/table.ts';

/** Where an experiment's results lie: NAME.jsonl holds a line for each finished run, NAME.md and NAME.csv the table. */
export interface ResultFiles {
  readonly read: () => RunResult[];
  readonly append: (result: RunResult) => void;
  readonly write: (table: Table) => string; // the Markdown
}

/** Opens the folder, making it; `say` hears of lines that are no results. */
export function resultFiles(folder: string, name: ExperimentName, say: (line: string) => void): ResultFiles {
  mkdirSync(folder, { recursive: true });
  const file = (ending: string) => path.join(folder, `${name}.${ending}`);
  const lines = file('jsonl');
  return {
    read: () => {
      if (!existsSync(lines)) return [];
      const text = readFileSync(lines, 'utf8');
      // a run that was cut off while it wrote must not swallow the next one's line
      if (text !== '' && !text.endsWith('\n')) appendFileSync(lines, '\n');
      const { results, bad } = parseResults(text);
      for (const line of bad) say(`${lines}:${line}: not a result of this version; left out.`);
      return [...results];
    },
    append: (result) => appendFileSync(lines, `${JSON.stringify(result)}\n`),
    write: (table) => {
      const markdown = markdownOf(table);
      writeFileSync(file('md'), markdown);
      writeFileSync(file('csv'), csvOf(table));
      return markdown;
    },
  };
}
