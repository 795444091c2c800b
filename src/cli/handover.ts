import { ConfigError } from '../config/configProblem.ts';
import { type Engine, ENGINES } from '../config/mappedKnob.ts';
import { handOver } from '../session/handOverRun.ts';
import { nodeHost } from './nodeHost.ts';
import { quickJsWasm } from './openEnvironmentFile.ts';
import { program } from './program.ts';
import { savedRun } from './savedRun.ts';
import { imitateToEnd, type Training } from './openTraining.ts';
import { describedRun, writeAndReport, writerArguments } from './folderWriter.ts';

const USAGE =
  'npm run handover -- --for verl|trl --out FOLDER|FILE.zip (--run FOLDER|ZIP | --preset NAME [--from FOLDER|ZIP] [knobs of npm run train])';
const WRITER = { name: 'handover', usage: USAGE, ownFlags: ['for'], runFolders: ['model'] } as const;

/** `npm run handover`: writes a saved run, or one as it would begin, as a folder with which verl or TRL trains on the same task. */
async function main(args: readonly string[]): Promise<number> {
  const { out, run: source, ownFlags, train } = await writerArguments(args, WRITER);
  const engine = engineOf(ownFlags.for);
  const run = source === null ? await describedRun(train, started) : await savedRun(source);
  if (!run) return 1;
  const files = await handOver(engine, run, { ...(await nodeHost(false)), quickjsWasm: quickJsWasm });
  await writeAndReport(out, files, { kind: 'handover', for: engine });
  return 0;
}

function engineOf(name: string | undefined): Engine {
  const engine = ENGINES.find((known) => known === name);
  if (engine) return engine;
  const what = `--for ${name === undefined ? 'is missing' : `can’t be ${name}`}.`;
  throw new ConfigError([{ what, remedy: `Use one of ${ENGINES.join(', ')}.` }], { usage: USAGE });
}

/** Takes a new run to the end of its warm start; the run of `--from` stays as it is. */
async function started(training: Training): Promise<boolean> {
  await imitateToEnd(training);
  training.progress.end();
  return true;
}

await program('handover', USAGE, main);
