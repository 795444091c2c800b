import path from 'node:path';
import { type RunIdentity, runKey } from '../experiments/runIdentity.ts';
import { parseResult, resultFromRun, type RunResult } from '../experiments/runResult.ts';
import { readLog } from '../runs/log.ts';
import { namesIn, readWhole, writableFolder, writeWhole } from './files.ts';

/**
 * The finished runs of a sweep or an experiment: a folder with one log for each, KEY.jsonl. A log is written completely
 * or not at all, and two processes never write the same log. So several machines can share a folder, folders can be
 * merged by copying, and the same command continues a job.
 */
export interface RunLogs {
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
