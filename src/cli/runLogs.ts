import path from 'node:path';
import { type RunIdentity, runKey } from '../experiments/runIdentity.ts';
import { parseResult, resultOf, type RunResult } from '../experiments/runResult.ts';
import { readLog } from '../runs/log.ts';
import { namesIn, readWhole, writableFolder, writeWhole } from './files.ts';

/**
 * The finished runs of a sweep or an experiment: a folder with one log for each, KEY.jsonl. A log is there whole or not at all, and two
 * processes never write the same one, so a folder can be shared, copied together and gone on with.
 */
export interface RunLogs {
  readonly read: () => Promise<Map<string, RunResult>>; // by key
  readonly add: (run: RunIdentity, log: string) => Promise<RunResult>;
  readonly takeOver: (other: string) => Promise<void>; // the runs of another folder that this one lacks
}

const MOST_BYTES = 64e6; // of a log
const RUN = /\.jsonl?$/; // anything else is what a process left behind that was killed while it wrote

/** Opens the folder, making it; `say` hears of files that can't be read. Each of these throws ProblemError. */
export async function runLogs(folder: string, experiment: string, say: (line: string) => void): Promise<RunLogs> {
  await writableFolder(folder);
  const read = async () => {
    const results = new Map<string, RunResult>();
    for (const name of namesIn(folder).filter((each) => RUN.test(each))) {
      const file = path.join(folder, name);
      const text = new TextDecoder().decode(await readWhole(file, MOST_BYTES));
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
    takeOver: async (other) => {
      const own = await read();
      for (const name of namesIn(other)) {
        if (!RUN.test(name) || own.has(name.replace(RUN, ''))) continue;
        await writeWhole(path.join(folder, name), await readWhole(path.join(other, name), MOST_BYTES));
      }
    },
  };
}

/** What a run came to: of its log, or of a file of an older version (KEY.json), which holds no more than that. */
function resultIn(name: string, text: string, experiment: string): RunResult {
  if (name.endsWith('.jsonl')) return resultOf(readLog(text, { name, written: '' }), experiment);
  const result = parseResult(JSON.parse(text));
  if (result) return result;
  throw new Error('It isn’t a result of this version.');
}
