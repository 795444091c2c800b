import { existsSync } from 'node:fs';
import path from 'node:path';
import type { ExperimentName } from '../experiments/experimentList.ts';
import { tableCsv, tableMarkdown } from '../experiments/experimentExports.ts';
import type { Table } from '../experiments/resultTable.ts';
import { runKey } from '../experiments/runIdentity.ts';
import { parseResults, resultsText, type RunResult } from '../experiments/runResult.ts';
import { readWhole, writeWhole } from './files.ts';
import { runLogs, type RunLogs } from './runLogs.ts';

/**
 * Where an experiment's results lie: the folder NAME holds a log for each finished run, NAME.md and NAME.csv the table.
 * NAME.jsonl has one line for each run with the numbers that the table is made of; the page and older versions of the
 * command write it too.
 */
export interface ExperimentFiles extends Pick<RunLogs, 'read' | 'add'> {
  readonly write: (table: Table, results: Iterable<RunResult>) => Promise<string>; // the Markdown
}

/** Makes the folder if needed. `say` is told about files and lines that are not results. Other failures throw ProblemError. */
export async function experimentFiles(
  folder: string,
  name: ExperimentName,
  say: (line: string) => void,
): Promise<ExperimentFiles> {
  const logs = await runLogs(path.join(folder, name), name, say);
  const file = (ending: string) => path.join(folder, `${name}.${ending}`);
  const linesFile = file('jsonl');
  const readLines = async () => {
    if (!existsSync(linesFile)) return [];
    const { results, badLines } = parseResults(new TextDecoder().decode(await readWhole(linesFile)));
    for (const line of badLines) say(`${linesFile}:${line}: not a result of this version; left out.`);
    return results;
  };
  return {
    add: logs.add,
    read: async () =>
      new Map([...(await readLines()).map((each) => [runKey(each), each] as const), ...(await logs.read())]),
    write: async (table, results) => {
      const markdown = tableMarkdown(table);
      await writeWhole(linesFile, resultsText(results));
      await writeWhole(file('md'), markdown);
      await writeWhole(file('csv'), tableCsv(table));
      return markdown;
    },
  };
}
