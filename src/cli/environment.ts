import path from 'node:path';
import { ConfigError } from '../config/configProblem.ts';
import { checkEnvironment, type CheckReport, faultsOf } from '../written/checker.ts';
import { placeIn } from '../domain/environmentFile.ts';
import { refusePython } from '../written/exports/checkedExport.ts';
import type { Declaration } from '../written/declaration.ts';
import { tryExport, writeExport } from './exportEnvironment.ts';
import { faultText, openEnvironmentFile } from './openEnvironmentFile.ts';
import { program } from './program.ts';

const MOST_EPISODES = 100_000;
const USAGE =
  'npm run environment -- FILE.ts|FILE.py [--episodes 1000] [--seed 1] [--export FOLDER|FILE.zip]   (plays an environment you wrote and lists its faults; --export writes it for TRL, verifiers, OpenEnv and verl)';

/** `npm run environment`: checks an environment's file, and exports it on request; 1 where it has a fault. */
async function main(args: readonly string[]): Promise<number> {
  const given = read(args);
  try {
    return await check(given);
  } catch (error) {
    const fault = faultText(error, path.basename(given.file));
    if (fault === null) throw error;
    console.error(fault);
    return 1;
  }
}

async function check({ file, episodes, seed, out }: Asked): Promise<number> {
  if (out !== null) await tryExport(out);
  const opened = await openEnvironmentFile(file);
  const { declaration, sandbox } = opened;
  if (out !== null) refusePython(declaration);
  const began = performance.now();
  const report = await checkEnvironment(declaration, sandbox, { episodes, seed });
  console.log(told(declaration, report, performance.now() - began, path.basename(file)));
  if (out !== null) {
    const names = await writeExport(out, opened, report);
    console.log(names ? `Exported to ${out}: ${names.join(', ')}.` : 'Nothing was exported. Fix the faults first.');
  }
  return faultsOf(report).length > 0 ? 1 : 0;
}

interface Asked {
  readonly file: string;
  readonly episodes: number;
  readonly seed: number;
  readonly out: string | null; // where the export goes
}

function read(args: readonly string[]): Asked {
  let file = '';
  let out: string | null = null;
  const numbers = { episodes: 1000, seed: 1 };
  for (let at = 0; at < args.length; at++) {
    const name = (args[at] ?? '').replace(/^--/, '');
    if (name === 'episodes' || name === 'seed') {
      const value = Number(args[++at]);
      const most = name === 'episodes' ? MOST_EPISODES : 2 ** 32 - 1;
      if (!Number.isInteger(value) || value < 1 || value > most) {
        throw new ConfigError([
          `--${name} is ${args[at] ?? 'missing'}. Write a whole number from 1 to ${most}.\n  ${USAGE}`,
        ]);
      }
      numbers[name] = value;
    } else if (args[at] === '--export') {
      out = args[++at] ?? '';
      if (out === '' || out.startsWith('--')) throw new ConfigError([`--export: which folder?\n  ${USAGE}`]);
    } else if (args[at]?.startsWith('-') || file !== '') {
      throw new ConfigError([`${args[at] ?? ''} is not understood.\n  ${USAGE}`]);
    } else file = name;
  }
  if (file === '') throw new ConfigError([`Which file?\n  ${USAGE}`]);
  return { file, ...numbers, out };
}

function told({ name, tools }: Declaration, report: CheckReport, ms: number, file: string): string {
  const { tasks, maxTurns } = report.settled;
  const list = tools.map(
    ({ name: tool, parameters }) =>
      `${tool}(${parameters.map((one) => (typeof one === 'string' ? one : one.name)).join(', ')})`,
  );
  const lines = [
    `${name}: ${list.join(', ') || 'no tools'}; ${tasks.train} tasks to train on, ${tasks.test} to test; at most ${maxTurns} turns.`,
    `${report.episodes} episodes, ${report.turns} turns in ${(ms / 1000).toFixed(1)} s. The longest prompt has ${report.longestPrompt} characters, the longest answer of a tool ${report.longestReply}.`,
    `Reward, mean: chance ${report.chance.toFixed(2)}, nonsense ${report.nonsense.toFixed(2)}, expert ${report.expert?.toFixed(2) ?? 'none'}.`,
  ];
  for (const { kind, text, line, episodes } of report.findings) {
    const at = line === null ? '' : placeIn(file, line);
    lines.push(`${kind === 'fault' ? 'FAULT  ' : 'warning'} ${at}${text}${episodes > 1 ? ` (${episodes} times)` : ''}`);
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
