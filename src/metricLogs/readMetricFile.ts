import { visible } from '../base/visible.ts';
import { readRunFile } from '../experiments/runFile.ts';
import { unpacked } from '../formats/compressed.ts';
import type { Run } from '../runs/run.ts';
import type { RunFile } from '../runs/sentRun.ts';
import { type Diagnosis, diagnose } from './diagnosis.ts';
import { logHead } from './logFiles.ts';
import { readEntries } from './logFormats.ts';
import { runOfEntries } from './metricLog.ts';

/** A run that was read from a file, and what the doctor says of it. */
export interface ReadMetricFile {
  readonly run: Run;
  readonly diagnosis: Diagnosis;
}

/** How a log, a table or a result of this project begins. */
const OWN_JSON = /^\uFEFF?\s*\{\s*"(?:kind|update|version|experiment)"\s*:/;

/**
 * Reads a run from a file of this project (see `readRunFile`), or from a log of another program. It reads the whole
 * file. Throws an Error with a sentence for people.
 */
export async function readMetricFile(runFile: RunFile): Promise<ReadMetricFile> {
  const { path, written } = runFile;
  if (runFile.manifest || OWN_JSON.test(await logHead(runFile.file))) {
    const own = { ...runFile, path: path.replace(/\.(?:zst|gz)$/i, ''), file: await unpacked(runFile.file) };
    return withDiagnosis(await readRunFile(own));
  }
  try {
    const file = await unpacked(runFile.file);
    const entries = readEntries(new Uint8Array(await file.arrayBuffer()));
    const { run, log } = runOfEntries(entries, { name: path, written });
    return { run, diagnosis: diagnose(run, log) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(error instanceof SyntaxError ? `The file isn’t JSON: ${visible(why, 160)}` : why, { cause: error });
  }
}

function withDiagnosis(run: Run): ReadMetricFile {
  return { run, diagnosis: diagnose(run, null) };
}
