import { existsSync } from 'node:fs';
import path from 'node:path';
import { visible } from '../base/visible.ts';
import { FILE_NAMES } from '../checkpoints/checkpointFolder.ts';
import { readCheckpointFiles } from '../checkpoints/read.ts';
import { checkpointFiles } from '../checkpoints/write.ts';
import { ConfigError } from '../config/configProblem.ts';
import type { EnvironmentFile } from '../domain/environmentFile.ts';
import { withKnobs, type Checkpoint } from '../runs/checkpoint.ts';
import { type PackedRun, packedRun, unpackedRun } from '../runs/packed.ts';
import type { Run } from '../runs/run.ts';
import { resumedConfig, type TrainArguments } from './arguments.ts';
import { callerPath, namesIn } from './files.ts';
import { ProblemError } from '../base/problem.ts';
import { withOwnEnvironment } from './ownEnvironment.ts';
import { isZipName, readFolder, COMPLETED_FOLDER, writeFolder } from './diskFolders.ts';

/**
 * The run with which to continue from a saved folder, with the requested number of updates. Null if the run is also
 * saved to this folder and the folder has no run or doesn't exist: so one command can begin a job and, started again,
 * continue it. Throws ProblemError if the folder can't be read, is damaged or was written by another program. Throws
 * ConfigError if other knobs are requested, or the run's environment isn't named.
 */
export async function runToResume(
  { resume, mayStartNew, requestedKnobs }: TrainArguments,
  environment: EnvironmentFile | null,
): Promise<Run | null> {
  if (resume === null) return null;
  const place = callerPath(resume);
  if (mayStartNew && hasNoRun(place)) return null;
  const opened = readCheckpointFiles(await readFolder(place));
  if (opened.kind !== 'ours') {
    throw new ProblemError(
      `--resume can’t open ${visible(resume, 4096)}: it has no ${FILE_NAMES.manifest}. Name a folder that npm run train -- --save or the page wrote.`,
    );
  }
  const run = withOwnEnvironment(unpackedRun(opened.run), environment, resume);
  const { checkpoint } = opened.run;
  const config = resumedConfig(run.config, requestedKnobs, checkpoint.progress.update);
  return { ...run, config, checkpoint: withKnobs(checkpoint, config) };
}

/** Reads a saved run from a folder or zip. Throws ProblemError, and ConfigError if another program wrote it. */
export async function savedRun(place: string): Promise<PackedRun> {
  const opened = readCheckpointFiles(await readFolder(callerPath(place)));
  if (opened.kind === 'ours') return opened.run;
  throw new ConfigError([
    {
      what: '--run can’t be another program’s model.',
      remedy: `Name a run that npm run export, npm run train -- --save or the page wrote. --from ${visible(place, 4096)} begins one with its weights.`,
    },
  ]);
}

/** Throws ProblemError if the folder of a flag, or one of its `subfolders`, contains a run, or if the zip exists. */
export function refuseSavedRun(flag: '--save' | '--out', placeName: string, ...subfolders: readonly string[]): void {
  const place = callerPath(placeName);
  const [contentWords, wantedWords] = isZipName(place) ? ['is there already', 'a zip that is not'] : ['holds a saved run', 'a folder without one']; // prettier-ignore
  const hasRun = isZipName(place)
    ? existsSync(place)
    : ['', ...subfolders].some((name) => !hasNoRun(path.join(place, name)));
  if (!hasRun) return;
  const remedy =
    flag === '--save' ? 'Go on with it by --resume, or choose another.' : 'Choose another, or move it away.';
  throw new ProblemError(
    `${flag} can’t be ${visible(placeName, 4096)}, because it ${contentWords}. Name ${wantedWords}. ${remedy}`,
  );
}

/** Saves a run at a checkpoint, as the same files that *Export* on the page writes. Throws ProblemError. */
export async function saveRun(save: string, run: Run, checkpoint: Checkpoint): Promise<void> {
  await writeFolder(callerPath(save), checkpointFiles(packedRun({ ...run, checkpoint })));
}

function hasNoRun(place: string): boolean {
  try {
    return !namesIn(place).some((name) => name === FILE_NAMES.manifest || name === COMPLETED_FOLDER);
  } catch (error) {
    const cause = error instanceof ProblemError ? error.cause : null;
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return true;
    throw error;
  }
}
