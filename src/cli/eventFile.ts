import { appendFileSync, readFileSync, truncateSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { visible } from '../base/visible.ts';
import type { Metrics } from '../domain/metrics.ts';
import { intactBytesUpTo, versionRecord, sessionStart, scalarRecord } from '../formats/tfevents.ts';
import { byUpdate } from '../runs/byUpdate.ts';
import type { Run } from '../runs/run.ts';
import { fileError, namesIn, writableFolder, writeWhole } from './files.ts';
import { ProblemError } from '../base/problem.ts';

/** The ending of this project's event files. TensorBoard reads any file whose name contains tfevents. */
const ENDING = '.rollout-playground';

/** Writes the metrics of a run for TensorBoard while it trains. */
export interface EventFile {
  /** Adds an update's numbers. Throws ProblemError. */
  readonly add: (update: number, values: Metrics) => void;
}

/**
 * Opens the event file in a folder; makes both if needed. If the run continues, the file keeps its records up to the
 * run's last update, or gets them from the run's curves if it doesn't exist, so that each update is in it once. `now`
 * returns seconds since 1970. `job` identifies a command that is started repeatedly until its run is done, as 8 hex
 * digits in the file's name; null for other commands. A job that was killed before it saved anything writes its file
 * again. Throws ProblemError, also if the folder has an event file of another run.
 */
export async function eventFile(folder: string, run: Run, now: () => number, job: string | null): Promise<EventFile> {
  await writableFolder(folder);
  const [existing, ...others] = namesIn(folder).filter((name) => name.includes('tfevents') && name.endsWith(ENDING));
  const continues = run.update > 0;
  const ending = job === null ? ENDING : `.${job}${ENDING}`;
  const isOwnFile = continues || (job !== null && existing?.endsWith(ending) === true);
  if (existing !== undefined && (!isOwnFile || others.length > 0)) {
    throw new ProblemError(
      `${visible(folder, 4096)} has events of another run (${visible(existing)}). Choose another folder.`,
    );
  }
  const name = existing ?? `events.out.tfevents.${Math.floor(now())}.${hostname()}.${process.pid}.0${ending}`;
  const file = path.join(folder, name);
  const append = (...records: readonly Uint8Array[]) => {
    try {
      appendFileSync(file, Buffer.concat(records));
    } catch (error) {
      throw fileError(file, 'written', error);
    }
  };
  const fromStart = [versionRecord(now()), ...pastRecords(run, now())];
  if (existing === undefined) await writeWhole(file, Buffer.concat(fromStart));
  else {
    const earlierBytes = continues ? intactBytesUpTo(readFileSync(file), run.update) : 0;
    truncateSync(file, earlierBytes);
    append(...(earlierBytes > 0 ? [] : fromStart), sessionStart(now(), continues ? run.update + 1 : 0));
  }
  return { add: (update, values) => append(scalarRecord(now(), update, Object.entries(values))) };
}

/** The records for the updates that a run's curves already have, one per update. */
function pastRecords({ series }: Run, now: number): readonly Uint8Array[] {
  const curves = Array.from(series, ([name, { points }]) => [name, points] as const);
  return byUpdate(curves).map(([update, values]) => scalarRecord(now, update, values));
}
