import { type Form, FORMS } from '../checkpoints/modelConfigFile.ts';
import { checkpointFiles } from '../checkpoints/write.ts';
import { ConfigError } from '../config/configProblem.ts';
import { type PackedRun, packedRun } from '../runs/packed.ts';
import type { TrainArguments } from './arguments.ts';
import { freshRun } from './freshRun.ts';
import { nodeHost } from './nodeHost.ts';
import { program } from './program.ts';
import { progress } from './progressBar.ts';
import { savedRun } from './savedRun.ts';
import { openTraining, trainToEnd } from './openTraining.ts';
import { writeAndReport, writerArguments } from './folderWriter.ts';

const USAGE =
  'npm run export -- --out FOLDER|FILE.zip [--form llama|qwen2] (--run FOLDER|ZIP | --preset NAME --seed N --updates N [--from FOLDER|ZIP] [knobs of npm run train])';
const WRITER = { name: 'export', usage: USAGE, ownFlags: ['form'], runFolders: [] } as const;

/** `npm run export`: trains a run, or reads a saved one, and writes it as the folder of a Hugging Face model. */
async function main(args: readonly string[]): Promise<number> {
  const { out, run: source, ownFlags, train } = await writerArguments(args, WRITER);
  const form = formOf(ownFlags.form);
  const run = source === null ? await trainedRun(train) : await savedRun(source);
  if (!run) return 1;
  await writeAndReport(out, checkpointFiles(run, form), { kind: 'export', update: run.update });
  return 0;
}

function formOf(named = 'llama'): Form {
  const form = FORMS.find((each) => each === named);
  if (form) return form;
  throw new ConfigError([{ what: `--form can’t be ${named}.`, remedy: `Use ${FORMS.join(' or ')}.` }], {
    usage: USAGE,
  });
}

/** Trains the run and returns it after its last update. If it has to stop earlier, reports that and returns null. */
async function trainedRun(options: TrainArguments): Promise<PackedRun | null> {
  const host = await nodeHost(options.config.backend !== 'cpu');
  const show = progress(process.stderr, options.json);
  const training = await openTraining(await freshRun(options, host), host, show);
  const { session, log } = training;
  try {
    const ending = await trainToEnd(training, () => Promise.resolve('on'));
    show.end();
    if (ending === 'finished') return packedRun({ ...log.run, checkpoint: await session.checkpoint() });
    show.problem('Nothing was written.', 'npm run train -- --save DIR keeps what was learned before such an end.');
    return null;
  } finally {
    session.dispose();
  }
}

await program('export', USAGE, main);
