import { visible } from '../base/visible.ts';
import { ConfigError } from '../config/configProblem.ts';
import { ProblemError, problemText } from '../base/problem.ts';
import { readLog } from '../runs/log.ts';
import type { Run } from '../runs/run.ts';
import type { RunFile } from '../runs/sentRun.ts';
import { parseResult, parseResults, runFromResult } from './runResult.ts';

/**
 * Reads a run from a file: a log of `npm run train`, of a sweep or of an experiment, metrics.jsonl of a saved folder,
 * or a result that an older version of a sweep wrote. It reads the whole file, which takes seconds if it's large.
 * Throws an Error with a sentence for people.
 */
export async function readRunFile({ path, written, file, manifest }: RunFile): Promise<Run> {
  try {
    const text = await file.text();
    if (/\.jsonl$/i.test(path)) {
      if (parseResults(text.split('\n', 1).join('')).results.length > 0) throw new ProblemError(TABLE_FILE_ERROR);
      const run: unknown = manifest && (JSON.parse(await manifest.text()) as { run?: unknown } | null)?.run;
      return readLog(text, { name: visible(path), written, run: run ?? undefined });
    }
    const result = parseResult(JSON.parse(text));
    if (result) return runFromResult(result, written);
    throw new ProblemError('This JSON isn’t a result of a sweep or an experiment. Open a file of its folder runs.');
  } catch (error) {
    throw new Error(errorSentence(error), { cause: error });
  }
}

/** The error for the file NAME.jsonl of an experiment, which holds results and no run. */
const TABLE_FILE_ERROR =
  'These are the numbers of an experiment’s table. Its runs are in the folder of the same name. Open that.';

function errorSentence(error: unknown): string {
  if (error instanceof ConfigError) return error.problems.map(problemText).join(' ');
  if (error instanceof SyntaxError) return 'The file isn’t JSON. Open it as it was written.';
  return error instanceof Error ? error.message : String(error);
}
