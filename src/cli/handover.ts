import { ConfigError } from '../config/configProblem.ts';
import { type Engine, ENGINES } from '../config/mappedKnob.ts';
import { type PackedRun, packedRun } from '../runs/packed.ts';
import { handOver, handoverEnvironment } from '../session/handOverRun.ts';
import type { TrainArguments } from './arguments.ts';
import { freshRun } from './freshRun.ts';
import { nodeHost } from './nodeHost.ts';
import { program } from './program.ts';
import { progress } from './progressBar.ts';
import { savedRun } from './savedRun.ts';
import { openTraining } from './openTraining.ts';
import { writeOut, writerArguments } from './folderWriter.ts';

const USAGE =
  'npm run handover -- --for verl|trl --out FOLDER|FILE.zip (--run FOLDER|ZIP | --preset NAME [--from FOLDER|ZIP] [knobs of npm run train])';
const WRITER = { name: 'handover', usage: USAGE, own: ['for'], runsIn: ['model'] } as const;

/** `npm run handover`: a saved run, or one as it would begin, as a folder that trains the same task on an engine. */
async function main(args: readonly string[]): Promise<number> {
  const { out, run: source, own, train } = await writerArguments(args, WRITER);
  const engine = engineOf(own.for);
  const run = source === null ? await begun(train) : await savedRun(source);
  const files = handOver(engine, run, await handoverEnvironment(run, await nodeHost(false)));
  await writeOut(out, files, { kind: 'handover', for: engine });
  return 0;
}

function engineOf(name: string | undefined): Engine {
  const engine = ENGINES.find((known) => known === name);
  if (engine) return engine;
  const what = `--for ${name === undefined ? 'is missing' : `can’t be ${name}`}.`;
  throw new ConfigError([{ what, remedy: `Use one of ${ENGINES.join(', ')}.` }], { usage: USAGE });
}

/** A run before its next update: a new run after its warm start, or the run of `--from`. */
async function begun(asked: TrainArguments): Promise<PackedRun> {
  const host = await nodeHost(asked.config.backend !== 'cpu');
  const show = progress(process.stderr, asked.json);
  const { session, log } = await openTraining(await freshRun(asked, host), host, show);
  show.end();
  try {
    return packedRun({ ...log.run, checkpoint: await session.checkpoint() });
  } finally {
    session.dispose();
  }
}

await program('handover', USAGE, main);
