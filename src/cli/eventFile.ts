import { appendFileSync, readFileSync, truncateSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { visible } from '../base/visible.ts';
import type { Metrics } from '../domain/metrics.ts';
import { bytesUpTo, fileVersion, goesOn, scalars } from '../formats/tfevents.ts';
import { byUpdate } from '../runs/byUpdate.ts';
import type { Run } from '../runs/run.ts';
import { fileError, namesIn, writableFolder, writeWhole } from './files.ts';
import { ProblemError } from '../base/problem.ts';

/** What names of event files of this project end in; TensorBoard reads any that has tfevents in it. */
const ENDING = '.rollout-playground';

/** A run's numbers for TensorBoard, as they come. */
export interface EventFile {
  /** Adds an update's numbers. Throws ProblemError. */
  readonly add: (update: number, values: Metrics) => void;
}

/**
 * Opens the event file of a folder, making both. Of a run that goes on it keeps what was told up to the update it goes on after, or
 * has it from the run's curves where the folder has no such file; so each update is there once. `now`: seconds since 1970. `job` names,
 * in 8 hex digits of the file's name, a command that is started again until its run is done; null: the run is begun once. A job that was killed before
 * it saved tells its file again. Throws ProblemError, also where another run's event file is there.
 */
export async function eventFile(folder: string, run: Run, now: () => number, job: string | null): Promise<EventFile> {
  await writableFolder(folder);
  const [there, ...more] = namesIn(folder).filter((name) => name.includes('tfevents') && name.endsWith(ENDING));
  const goingOn = run.update > 0;
  const own = job === null ? ENDING : `.${job}${ENDING}`;
  const ours = goingOn || (job !== null && there?.endsWith(own) === true);
  if (there !== undefined && (!ours || more.length > 0)) {
    throw new ProblemError(
      `${visible(folder, 4096)} has events of another run (${visible(there)}). Choose another folder.`,
    );
  }
  const name = there ?? `events.out.tfevents.${Math.floor(now())}.${hostname()}.${process.pid}.0${own}`;
  const file = path.join(folder, name);
  const appended = (...records: readonly Uint8Array[]) => {
    try {
      appendFileSync(file, Buffer.concat(records));
    } catch (error) {
      throw fileError(file, 'written', error);
    }
  };
  const whole = [fileVersion(now()), ...past(run, now())];
  if (there === undefined) await writeWhole(file, Buffer.concat(whole));
  else {
    const earlierBytes = goingOn ? bytesUpTo(readFileSync(file), run.update) : 0;
    truncateSync(file, earlierBytes);
    appended(...(earlierBytes > 0 ? [] : whole), goesOn(now(), goingOn ? run.update + 1 : 0));
  }
  return { add: (update, values) => appended(scalars(now(), update, Object.entries(values))) };
}

/** What a run's curves hold already, a record an update. */
function past({ series }: Run, now: number): readonly Uint8Array[] {
  const curves = Array.from(series, ([name, { points }]) => [name, points] as const);
  return byUpdate(curves).map(([update, values]) => scalars(now, update, values));
}
