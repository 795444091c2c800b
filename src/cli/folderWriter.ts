import { readFlags } from '../../tools/flags.mjs';
import type { Problem } from '../base/problem.ts';
import type { Files } from '../checkpoints/checkpointFolder.ts';
import { ConfigError } from '../config/configProblem.ts';
import { TRAIN_FLAGS, TRAIN_WORDS, type TrainArguments, trainArguments, type TrainFlags } from './arguments.ts';
import { callerPath } from './files.ts';
import { tryFolder, writeFolder } from './diskFolders.ts';
import { keepSaved } from './savedRun.ts';

/** How a program that writes one folder or zip of a run is called, as `npm run export` and `npm run handover` are. */
export interface Writer<Own extends string> {
  readonly name: string; // of the program
  readonly usage: string;
  readonly own: readonly Own[]; // its flags beside --out and --run, each with a value
  readonly runsIn: readonly string[]; // folders within the one that is written that hold a run
}

/** What such a program was asked for: a saved run as it is, or one by the flags of `npm run train`. */
export interface ExportRequest<Own extends string> {
  readonly out: string;
  readonly run: string | null; // a folder or zip; null: `train` says which
  readonly own: Readonly<Partial<Record<Own, string>>>;
  readonly train: TrainArguments;
}

// Of `npm run train`, which saves on the way; what is written once, at the end, takes none of them.
const ON_THE_WAY = ['resume', 'save', 'save-every', 'tensorboard'] as const;

/**
 * Reads the flags and tries whether --out can be written to, before anything long begins. Throws ConfigError, and ProblemError where it can't,
 * where it holds a run or is a zip that is there.
 */
export async function writerArguments<Own extends string>(
  args: readonly string[],
  writer: Writer<Own>,
): Promise<ExportRequest<Own>> {
  const { name, usage, runsIn } = writer;
  const own = Object.fromEntries(writer.own.map((flag) => [flag, 'value'])) as Record<Own, 'value'>;
  const have = `--out, --run, ${writer.own.map((flag) => `--${flag}, `).join('')}${TRAIN_WORDS.have}`;
  const read = readFlags(args, { ...TRAIN_FLAGS, ...own, out: 'value', run: 'value' }, { ...TRAIN_WORDS, have });
  const given = read.given as TrainFlags['given'] &
    ExportRequest<Own>['own'] & { readonly out?: string; readonly run?: string };
  const { out = '', run = null } = given;
  const problems: Problem[] = [...read.problems];
  if (out === '' && problems.length === 0)
    problems.push({ what: '--out is missing.', remedy: 'Name a folder, or a file that ends in .zip.' });
  const onTheWay = ON_THE_WAY.filter((flag) => given[flag] !== undefined);
  problems.push(
    ...onTheWay.map((flag) => ({
      ...{ place: `--${flag}`, what: `${name} writes once, into --out, and takes none.` },
      remedy: `Train with npm run train -- --save DIR, then npm run ${name} -- --run DIR.`,
    })),
  );
  const training = Object.keys(given).filter((flag) => Object.hasOwn(TRAIN_FLAGS, flag));
  if (run !== null && training.length > 0 && problems.length === 0) {
    const flags = training.map((flag) => `--${flag}`).join(' ');
    problems.push({ what: `--run and ${flags} can’t be combined: a saved run is written as it is.` });
  }
  if (problems.length > 0) throw new ConfigError(problems, { usage });
  const train = trainArguments({ given, problems: [] });
  keepSaved('--out', out, ...runsIn);
  await tryFolder(callerPath(out));
  return { out, run, own: given, train };
}

/** Writes the files and says so in a line of JSON, with what else is given. Throws ProblemError. */
export async function writeOut(
  out: string,
  files: Files,
  said: Readonly<Record<string, string | number>>,
): Promise<void> {
  await writeFolder(callerPath(out), files);
  const bytes = [...files.values()].reduce((sum, { length }) => sum + length, 0);
  console.log(JSON.stringify({ ...said, out, files: [...files.keys()], bytes }));
}
