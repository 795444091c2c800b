import { readFlags } from '../../tools/flags.mjs';
import type { Problem } from '../base/problem.ts';
import type { Files } from '../checkpoints/checkpointFolder.ts';
import { ConfigError } from '../config/configProblem.ts';
import { TRAIN_FLAGS, TRAIN_FLAG_OPTIONS, type TrainArguments, trainArguments, type TrainFlags } from './arguments.ts';
import { type PackedRun, packedRun } from '../runs/packed.ts';
import { callerPath } from './files.ts';
import { freshRun } from './freshRun.ts';
import { nodeHost } from './nodeHost.ts';
import { openTraining, type Training } from './openTraining.ts';
import { progress } from './progressBar.ts';
import { checkWritable, writeFolder } from './diskFolders.ts';
import { refuseSavedRun } from './savedRun.ts';

/** The command line of a program that writes a run as one folder or zip: `npm run export` and `npm run handover`. */
export interface WriterCommand<Own extends string> {
  readonly name: string; // of the program
  readonly usage: string;
  readonly ownFlags: readonly Own[]; // its flags in addition to --out and --run, each with a value
  readonly runFolders: readonly string[]; // subfolders of the written folder that contain a run
}

/** The arguments of such a program: a saved run, or a run described by the flags of `npm run train`. */
export interface ExportRequest<Own extends string> {
  readonly out: string;
  readonly run: string | null; // folder or zip of a saved run; null: `train` describes the run
  readonly ownFlags: Readonly<Partial<Record<Own, string>>>;
  readonly train: TrainArguments;
}

// Flags of `npm run train` for saving during the run. These programs write only at the end and accept none of them.
const SAVING_FLAGS = ['resume', 'save', 'save-every', 'tensorboard'] as const;

/**
 * Reads the flags and checks, before anything long begins, that --out can be written. Throws ConfigError for wrong
 * flags. Throws ProblemError if --out can't be written, contains a run or is an existing zip.
 */
export async function writerArguments<Own extends string>(
  args: readonly string[],
  writer: WriterCommand<Own>,
): Promise<ExportRequest<Own>> {
  const { name, usage, runFolders } = writer;
  const ownFlagKinds = Object.fromEntries(writer.ownFlags.map((flag) => [flag, 'value'])) as Record<Own, 'value'>;
  const flagList = `--out, --run, ${writer.ownFlags.map((flag) => `--${flag}, `).join('')}${TRAIN_FLAG_OPTIONS.have}`;
  const read = readFlags(
    args,
    { ...TRAIN_FLAGS, ...ownFlagKinds, out: 'value', run: 'value' },
    { ...TRAIN_FLAG_OPTIONS, have: flagList },
  );
  const flags = read.given as TrainFlags['given'] &
    ExportRequest<Own>['ownFlags'] & { readonly out?: string; readonly run?: string };
  const { out = '', run = null } = flags;
  const problems: Problem[] = [...read.problems];
  if (out === '' && problems.length === 0)
    problems.push({ what: '--out is missing.', remedy: 'Name a folder, or a file that ends in .zip.' });
  const savingFlags = SAVING_FLAGS.filter((flag) => flags[flag] !== undefined);
  problems.push(
    ...savingFlags.map((flag) => ({
      ...{ place: `--${flag}`, what: `${name} writes once, into --out, and takes none.` },
      remedy: `Train with npm run train -- --save DIR, then npm run ${name} -- --run DIR.`,
    })),
  );
  const trainingFlags = Object.keys(flags).filter((flag) => Object.hasOwn(TRAIN_FLAGS, flag));
  if (run !== null && trainingFlags.length > 0 && problems.length === 0) {
    const flagNames = trainingFlags.map((flag) => `--${flag}`).join(' ');
    problems.push({ what: `--run and ${flagNames} can’t be combined: a saved run is written as it is.` });
  }
  if (problems.length > 0) throw new ConfigError(problems, { usage });
  const train = trainArguments({ given: flags, problems: [] });
  refuseSavedRun('--out', out, ...runFolders);
  await checkWritable(callerPath(out));
  return { out, run, ownFlags: flags, train };
}

/** The run that the flags describe, as it is after `advance`. Null if that couldn't bring it so far, which it has reported. */
export async function describedRun(
  options: TrainArguments,
  advance: (training: Training) => Promise<boolean>,
): Promise<PackedRun | null> {
  const host = await nodeHost(options.config.backend !== 'cpu');
  const training = await openTraining(await freshRun(options, host), host, progress(process.stderr, options.json));
  const { session, log } = training;
  try {
    return (await advance(training)) ? packedRun({ ...log.run, checkpoint: await session.checkpoint() }) : null;
  } finally {
    session.dispose();
  }
}

/** Writes the files and prints a line of JSON about them, with the other given fields. Throws ProblemError. */
export async function writeAndReport(
  out: string,
  files: Files,
  summary: Readonly<Record<string, string | number>>,
): Promise<void> {
  await writeFolder(callerPath(out), files);
  const bytes = [...files.values()].reduce((sum, { length }) => sum + length, 0);
  console.log(JSON.stringify({ ...summary, out, files: [...files.keys()], bytes }));
}
