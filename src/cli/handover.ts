import { ConfigError } from '../config/configProblem.ts';
import { type Engine, ENGINES } from '../config/mappedKnob.ts';
import { type PackedRun, packedRun } from '../runs/packed.ts';
import { handOver } from '../session/handOverRun.ts';
import type { TrainArguments } from './arguments.ts';
import { freshRun } from './freshRun.ts';
import { nodeHost } from './nodeHost.ts';
import { quickJsWasm } from './openEnvironmentFile.ts';
import { program } from './program.ts';
import { progress } from './progressBar.ts';
import { savedRun } from './savedRun.ts';
import { imitateToEnd, openTraining } from './openTraining.ts';
import { writeAndReport, writerArguments } from './folderWriter.ts';

const USAGE =
  'npm run handover -- --for verl|trl --out FOLDER|FILE.zip (--run FOLDER|ZIP | --preset NAME [--from FOLDER|ZIP] [knobs of npm run train])';
const WRITER = { name: 'handover', usage: USAGE, ownFlags: ['for'], runFolders: ['model'] } as const;

/** `npm run handover`: writes a saved run, or one as it would begin, as a folder with which verl or TRL trains on the same task. */
async function main(args: readonly string[]): Promise<number> {
  const { out, run: source, ownFlags, train } = await writerArguments(args, WRITER);
  const engine = engineOf(ownFlags.for);
  const run = source === null ? await startedRun(train) : await savedRun(source);
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

/** A run before its next update: a new run after its warm start, or the run of `--from`. */
async function startedRun(options: TrainArguments): Promise<PackedRun> {
  const host = await nodeHost(options.config.backend !== 'cpu');
  const show = progress(process.stderr, options.json);
  const training = await openTraining(await freshRun(options, host), host, show);
  const { session, log } = training;
  try {
    await imitateToEnd(training);
    show.end();
    return packedRun({ ...log.run, checkpoint: await session.checkpoint() });
  } finally {
    session.dispose();
  }
}

await program('handover', USAGE, main);
