import { existsSync } from 'node:fs';
import path from 'node:path';
import { tableCsv, tableJson, tableMarkdown } from '../experiments/experimentExports.ts';
import { isExperiment } from '../experiments/experimentList.ts';
import type { Plan } from '../experiments/experimentPlan.ts';
import type { Table } from '../experiments/resultTable.ts';
import { runKey } from '../experiments/runIdentity.ts';
import { parseResults, resultsText, type RunResult } from '../experiments/runResult.ts';
import { readWhole, writeWhole } from './files.ts';
import { runLogs, type RunLogs } from './runLogs.ts';

/**
 * Where the results of a plan lie. A listed experiment's are the folder NAME with a log for each finished run, the table
 * as NAME.md and NAME.csv, and NAME.jsonl with the numbers of each run, which the page and older versions of the command
 * write too. Those of a file are the folder `runs`, and the table as table.md, table.csv and table.json; table.jsonl is
 * read if the page wrote it.
 */
export interface ExperimentFiles extends Pick<RunLogs, 'read' | 'add'> {
  /** Takes over the results of another folder. */
  readonly merge: (folder: string) => Promise<void>;
  readonly write: (table: Table, results: Iterable<RunResult>) => Promise<string>; // the Markdown
}

/** Creates the folder if there is none. Calls `say` for each file or line that isn't a result. Throws ProblemError for other failures. */
export async function experimentFiles(
  folder: string,
  { name }: Plan,
  say: (line: string) => void,
): Promise<ExperimentFiles> {
  const listed = isExperiment(name);
  const runsFolder = (of: string) => path.join(of, listed ? name : 'runs');
  const fileIn = (of: string, ending: string) => path.join(of, `${listed ? name : 'table'}.${ending}`);
  const logs = await runLogs(runsFolder(folder), name, say);
  const linesFiles = [fileIn(folder, 'jsonl')]; // later ones count
  const readLines = async (file: string) => {
    if (!existsSync(file)) return [];
    const { results, badLines } = parseResults(new TextDecoder().decode(await readWhole(file)));
    for (const line of badLines) say(`${file}:${line}: not a result of this version; left out.`);
    return results;
  };
  return {
    add: logs.add,
    merge: async (other) => {
      linesFiles.unshift(fileIn(other, 'jsonl'));
      await logs.copyMissing(runsFolder(other));
    },
    read: async () => {
      const lines = (await Promise.all(linesFiles.map(readLines))).flat();
      return new Map([...lines.map((each) => [runKey(each), each] as const), ...(await logs.read())]);
    },
    write: async (table, results) => {
      const markdown = tableMarkdown(table);
      await writeWhole(fileIn(folder, 'md'), markdown);
      await writeWhole(fileIn(folder, 'csv'), tableCsv(table));
      if (listed) await writeWhole(fileIn(folder, 'jsonl'), resultsText(results));
      else await writeWhole(fileIn(folder, 'json'), tableJson(table));
      return markdown;
    },
  };
}
