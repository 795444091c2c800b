import { existsSync } from 'node:fs';
import path from 'node:path';
import { tableCsv, tableJson, tableMarkdown } from '../experiments/experimentExports.ts';
import { isExperiment } from '../experiments/experimentList.ts';
import type { Plan } from '../experiments/experimentPlan.ts';
import type { Table } from '../experiments/resultTable.ts';
import {
  parseResults,
  resultsText,
  type RunResult,
  parseResult,
  resultFromRun,
  runKey,
  type RunIdentity,
} from '../experiments/runResult.ts';
import { readWhole, writeWhole, namesIn, writableFolder } from './files.ts';
import { readLog } from '../runs/log.ts';

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

/**
 * The finished runs of a sweep or an experiment: a folder with one log for each, KEY.jsonl. A log is written completely
 * or not at all, and two processes never write the same log. So several machines can share a folder, folders can be
 * merged by copying, and the same command continues a job.
 */
interface RunLogs {
  readonly read: () => Promise<Map<string, RunResult>>; // by key
  readonly add: (run: RunIdentity, log: string) => Promise<RunResult>;
  readonly copyMissing: (other: string) => Promise<void>; // the runs of another folder that this one lacks
}

const MAX_BYTES = 64e6; // of a log
const LOG_NAME = /\.jsonl?$/; // other files were left by a process that was killed while it wrote

/** Opens the folder, and creates it if there is none. Calls `say` for each file that can't be read. Throws ProblemError for other failures. */
export async function runLogs(folder: string, experiment: string, say: (line: string) => void): Promise<RunLogs> {
  await writableFolder(folder);
  const read = async () => {
    const results = new Map<string, RunResult>();
    for (const name of namesIn(folder).filter((each) => LOG_NAME.test(each))) {
      const file = path.join(folder, name);
      const text = new TextDecoder().decode(await readWhole(file, MAX_BYTES));
      try {
        const result = resultIn(name, text, experiment);
        results.set(runKey(result), result); // an older file may be named after a knob's former name
      } catch (error) {
        say(`${file}: left out, and run again. ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    return results;
  };
  return {
    read,
    add: async (run, log) => {
      const name = `${runKey(run)}.jsonl`;
      await writeWhole(path.join(folder, name), log);
      return resultIn(name, log, experiment);
    },
    copyMissing: async (otherFolder) => {
      const ownResults = await read();
      for (const name of namesIn(otherFolder)) {
        if (!LOG_NAME.test(name) || ownResults.has(name.replace(LOG_NAME, ''))) continue;
        await writeWhole(path.join(folder, name), await readWhole(path.join(otherFolder, name), MAX_BYTES));
      }
    },
  };
}

/** The result of a run, from its log, or from a file of an older version (KEY.json), which holds only the result. */
function resultIn(name: string, text: string, experiment: string): RunResult {
  if (name.endsWith('.jsonl')) return resultFromRun(readLog(text, { name, written: '' }), experiment);
  const result = parseResult(JSON.parse(text));
  if (result) return result;
  throw new Error('It isn’t a result of this version.');
}
