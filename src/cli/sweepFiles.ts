import path from 'node:path';
import { parseResult, type RunResult } from '../experiments/runResult.ts';
import { sweepCsv, sweepJson, sweepMarkdown } from '../sweeps/sweepExports.ts';
import type { SweepTable } from '../sweeps/sweepTable.ts';
import { namesIn, readWhole, writableFolder, writeWhole } from './files.ts';

/**
 * Where a sweep's results lie: runs/KEY.json holds one finished run, table.md, .csv and .json what they come to. A file is there whole
 * or not at all, and two processes never write the same one, so that a folder can be shared, copied together and gone on with.
 */
export interface SweepFiles {
  readonly read: () => Promise<Map<string, RunResult>>; // by key
  readonly add: (key: string, result: RunResult) => Promise<void>;
  readonly write: (table: SweepTable) => Promise<string>; // the Markdown
}

const MOST_BYTES = 64e6;

/** Opens the folder, making it; `say` hears of files that are no results. Each of these throws FileError. */
export async function sweepFiles(folder: string, say: (line: string) => void): Promise<SweepFiles> {
  const runs = path.join(folder, 'runs');
  await writableFolder(runs);
  return {
    read: () => resultsIn(folder, say),
    add: (key, result) => writeWhole(path.join(runs, `${key}.json`), `${JSON.stringify(result)}\n`),
    write: async (table) => {
      const markdown = sweepMarkdown(table);
      await writeWhole(path.join(folder, 'table.md'), markdown);
      await writeWhole(path.join(folder, 'table.csv'), sweepCsv(table));
      await writeWhole(path.join(folder, 'table.json'), sweepJson(table));
      return markdown;
    },
  };
}

/** The results in a sweep's folder, by key. Throws FileError. */
export async function resultsIn(folder: string, say: (line: string) => void): Promise<Map<string, RunResult>> {
  const runs = path.join(folder, 'runs');
  const results = new Map<string, RunResult>();
  for (const name of namesIn(runs)) {
    const file = path.join(runs, name);
    if (!name.endsWith('.json')) continue; // what a process that was killed while it wrote left behind
    const result = parsed(new TextDecoder().decode(await readWhole(file, MOST_BYTES)));
    if (result) results.set(name.slice(0, -'.json'.length), result);
    else say(`${file}: not a result of this version; left out, and run again.`);
  }
  return results;
}

function parsed(text: string): RunResult | null {
  try {
    return parseResult(JSON.parse(text));
  } catch {
    return null;
  }
}
