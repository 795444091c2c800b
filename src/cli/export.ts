import { type Form, FORMS } from '../checkpoints/modelConfigFile.ts';
import { checkpointFiles } from '../checkpoints/write.ts';
import { ConfigError } from '../config/configProblem.ts';
import { program } from './program.ts';
import { savedRun } from './savedRun.ts';
import { type Training, trainToEnd } from './openTraining.ts';
import { describedRun, writeAndReport, writerArguments } from './folderWriter.ts';

const USAGE =
  'npm run export -- --out FOLDER|FILE.zip [--form llama|qwen2] (--run FOLDER|ZIP | --preset NAME --seed N --updates N [--from FOLDER|ZIP] [knobs of npm run train])';
const WRITER = { name: 'export', usage: USAGE, ownFlags: ['form'], runFolders: [] } as const;

/** `npm run export`: trains a run, or reads a saved one, and writes it as the folder of a Hugging Face model. */
async function main(args: readonly string[]): Promise<number> {
  const { out, run: source, ownFlags, train } = await writerArguments(args, WRITER);
  const form = formOf(ownFlags.form);
  const run = source === null ? await describedRun(train, trainedFully) : await savedRun(source);
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

/** Trains to the last update. If it has to stop earlier, says so. */
async function trainedFully(training: Training): Promise<boolean> {
  const ending = await trainToEnd(training, () => Promise.resolve('on'));
  training.progress.end();
  if (ending === 'finished') return true;
  training.progress.problem(
    'Nothing was written.',
    'npm run train -- --save DIR keeps what was learned before such an end.',
  );
  return false;
}

await program('export', USAGE, main);
