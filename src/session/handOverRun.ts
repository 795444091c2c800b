import { YOUR_ENVIRONMENT } from '../config/environments.ts';
import { openEnvironment } from './environment.ts';
import type { Files } from '../checkpoints/checkpointFolder.ts';
import type { ToolEnv } from '../envs/env.ts';
import { zipOf } from '../formats/zip.ts';
import { checkHandover, handoverProblem } from '../handover/handoverFolder.ts';
import { handoverFiles } from '../handover/index.ts';
import { mappedKnobs } from '../handover/mapping.ts';
import type { Engine } from '../config/mappedKnob.ts';
import { distinctSeeds, evaluatedReset, evaluatedTasks } from '../rl/evaluatedTasks.ts';
import { trainTaskSeed } from '../rl/settings.ts';
import type { PackedRun } from '../runs/packed.ts';
import type { FolderAnswer, FolderTask } from '../wire/folderMessages.ts';
import type { Host } from './host.ts';

/** Largest number of rows, but at least those of one update. A thousand tasks with graphs take a megabyte. */
const MAX_TRAIN_ROWS = 8192;

/**
 * The files of a folder with which an engine continues a run from its checkpoint. It contains the tasks of the next
 * updates, as the page would draw them, and the tasks of the evaluation. Throws ProblemError if only the page has the
 * rules of the environment, or the agent uses text.
 */
export function handOver(engine: Engine, run: PackedRun, env: ToolEnv): Files {
  const { config } = run;
  const { progress } = run.checkpoint;
  checkHandover(env, config);
  const { seed, prompts, updates } = config;
  const count = prompts * Math.min(updates, Math.max(1, Math.floor(MAX_TRAIN_ROWS / prompts)));
  const train = Array.from({ length: count }, (_, i) => {
    const task = trainTaskSeed(seed, progress.update + 1 + Math.floor(i / prompts), i % prompts);
    return { seed: task, environmentSeed: task };
  });
  const begin = evaluatedReset(env);
  const seeds = evaluatedTasks(distinctSeeds(env, begin, config), config, 'once');
  return handoverFiles(engine, { run, env, train, val: { begin, seeds } });
}

/** Opens the environment of a run for `handOver`. Throws ProblemError if the run can't be handed over. */
export async function handoverEnvironment(run: PackedRun, host: Pick<Host, 'shippedFile'>): Promise<ToolEnv> {
  const { begun, chatTokenizer = null } = run.checkpoint;
  // refused before the environment is opened, which would ask for the checkpoint or run a person's program
  if (begun.model === 'checkpoint' || begun.env === YOUR_ENVIRONMENT) throw handoverProblem({ name: begun.env }, begun);
  const { env } = await openEnvironment(begun, { facts: run.facts, chatTokenizer }, host);
  checkHandover(env, begun);
  return env;
}

/** A zip with a list of how each knob was translated; without an engine, only the list. Throws ProblemError as `handoverEnvironment`. */
export async function handoverAnswer(
  { engine, run }: Extract<FolderTask, { kind: 'handover' }>,
  host: Pick<Host, 'shippedFile'>,
): Promise<Extract<FolderAnswer, { kind: 'handed' }>> {
  const env = await handoverEnvironment(run, host);
  return { kind: 'handed', knobs: mappedKnobs(run.config), zip: engine && zipOf(handOver(engine, run, env)) };
}
