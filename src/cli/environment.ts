import path from 'node:path';
import { readFlags } from '../../tools/flags.mjs';
import { parseDecimal } from '../base/decimal.ts';
import { ConfigError } from '../config/configProblem.ts';
import { checkEnvironment, type CheckReport } from '../written/checker.ts';
import { faultsOf } from '../domain/checkFindings.ts';
import { untrainedReward } from '../session/untrainedReward.ts';
import { withUntrained } from '../written/examination.ts';
import { placeIn } from '../domain/environmentFile.ts';
import { refusePython, checkedExport } from '../handover/classFolder.ts';
import type { Declaration } from '../written/script/declaration.ts';
import { faultText, openEnvironmentFile, quickJsWasm } from './openEnvironmentFile.ts';
import { nodeHost } from './nodeHost.ts';
import { program } from './program.ts';
import { existsSync, readdirSync } from 'node:fs';
import type { OpenedFile } from '../written/openWritten.ts';
import { isZipName, checkWritable, writeFolder } from './diskFolders.ts';
import { callerPath } from './files.ts';

/** A file that every export has. A folder with this file is taken for an earlier export. */
const EXPORT_MARK = 'machine/environment.json';

/** A zip must be new; a folder must be new, empty or an earlier export. Throws ConfigError and ProblemError. */
async function checkExportPlace(out: string): Promise<void> {
  const place = callerPath(out);
  const isTaken = isZipName(place)
    ? existsSync(place)
    : existsSync(place) && readdirSync(place).length > 0 && !existsSync(path.join(place, EXPORT_MARK));
  if (isTaken)
    throw new ConfigError([
      { place: '--export', what: `${out} already exists and isn’t an earlier export.`, remedy: 'Name a new folder.' },
    ]);
  await checkWritable(place);
}

/**
 * Writes an environment as a folder that TRL, verifiers, OpenEnv and verl can train on. Returns the names of the files,
 * or null if the check found a fault; then nothing is written. Throws EnvironmentFileError.
 */
async function writeExport(out: string, opened: OpenedFile, report: CheckReport): Promise<readonly string[] | null> {
  const files = checkedExport(opened, report, await quickJsWasm());
  if (!files) return null;
  await writeFolder(callerPath(out), files);
  return [...files.keys()];
}

const MAX_EPISODES = 100_000;
const USAGE =
  'npm run environment -- FILE.ts|FILE.py [--episodes 1000] [--seed 1] [--export FOLDER|FILE.zip]   (plays an environment you wrote and lists its faults; --export writes it for TRL, verifiers, OpenEnv and verl)';

/** `npm run environment`: checks an environment's file and exports it on request. Returns exit code 1 if it has a fault. */
async function main(args: readonly string[]): Promise<number> {
  const options = readArguments(args);
  try {
    return await check(options);
  } catch (error) {
    const fault = faultText(error, path.basename(options.file));
    if (fault === null) throw error;
    console.error(fault);
    return 1;
  }
}

async function check({ file, episodes, seed, out }: EnvironmentArguments): Promise<number> {
  if (out !== null) await checkExportPlace(out);
  const opened = await openEnvironmentFile(file);
  const { declaration, sandbox } = opened;
  if (out !== null) refusePython(declaration);
  const began = performance.now();
  const checked = await checkEnvironment(declaration, sandbox, { episodes, seed });
  const ms = performance.now() - began;
  const { report, untrained } = await withUntrained(checked, async () =>
    untrainedReward(seed, { ...(await nodeHost(false)), ownEnvironment: opened.environment }),
  );
  console.log(reportText(declaration, { ...report, untrained }, ms, path.basename(file)));
  if (out !== null) {
    const names = await writeExport(out, opened, report);
    console.log(names ? `Exported to ${out}: ${names.join(', ')}.` : 'Nothing was exported. Fix the faults first.');
  }
  return faultsOf(report).length > 0 ? 1 : 0;
}

interface EnvironmentArguments {
  readonly file: string;
  readonly episodes: number;
  readonly seed: number;
  readonly out: string | null; // where the export goes
}

function readArguments(args: readonly string[]): EnvironmentArguments {
  const flags = { episodes: 'value', seed: 'value', export: 'value' } as const;
  const { given, positionals, problems } = readFlags(args, flags);
  const [file = ''] = positionals;
  if (positionals.length !== 1 && problems.length === 0)
    problems.push(
      file === ''
        ? { what: 'Which file?' }
        : { what: `${positionals.join(' ')} is more than one file.`, remedy: 'Name one.' },
    );
  const count = (name: 'episodes' | 'seed', fallback: number, max: number) => {
    const value = given[name] === undefined ? fallback : (parseDecimal(given[name]) ?? NaN);
    if (!Number.isInteger(value) || value < 1 || value > max)
      problems.push({ what: `--${name} is ${given[name] ?? ''}.`, remedy: `Write a whole number from 1 to ${max}.` });
    return value;
  };
  const [episodes, seed] = [count('episodes', 1000, MAX_EPISODES), count('seed', 1, 2 ** 32 - 1)];
  if (problems.length > 0) throw new ConfigError(problems, { usage: USAGE });
  return { file, episodes, seed, out: given.export ?? null };
}

function reportText(
  { name, tools }: Declaration,
  report: CheckReport & { readonly untrained: number | null },
  ms: number,
  file: string,
): string {
  const { tasks, maxTurns } = report.settings;
  const toolTexts = tools.map(
    ({ name: tool, parameters }) =>
      `${tool}(${parameters.map((one) => (typeof one === 'string' ? one : one.name)).join(', ')})`,
  );
  const rewards = [
    `chance ${report.chance.toFixed(2)}`,
    `nonsense ${report.nonsense.toFixed(2)}`,
    ...(report.expert === null ? [] : [`expert ${report.expert.toFixed(2)}`]),
    ...(report.untrained === null ? [] : [`model before training ${report.untrained.toFixed(2)}`]),
  ];
  const lines = [
    `${name}: ${toolTexts.join(', ') || 'no tools'}; ${tasks.train} tasks to train on, ${tasks.test} to test; at most ${maxTurns} turns.`,
    `${report.episodes} episodes, ${report.turns} turns in ${(ms / 1000).toFixed(1)} s. The longest prompt has ${report.longestPrompt} characters, the longest answer of a tool ${report.longestReply}.`,
    ...(report.broken ? [] : [`Reward, mean: ${rewards.join(', ')}.`]),
  ];
  for (const { kind, text, line, episodes } of report.findings) {
    const place = line === null ? '' : placeIn(file, line);
    lines.push(
      `${kind === 'fault' ? 'FAULT  ' : 'warning'} ${place}${text}${episodes > 1 ? ` (${episodes} times)` : ''}`,
    );
  }
  const faults = faultsOf(report).length;
  lines.push(
    faults === 0
      ? `No faults: the same calls give the same episode${report.expert === null ? '' : ', and the expert beats chance'}.`
      : `${faults} ${faults === 1 ? 'fault' : 'faults'}.`,
  );
  return lines.join('\n');
}

await program('environment', USAGE, main);
