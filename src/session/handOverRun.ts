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

// Rows of train.jsonl at most, in whole updates: a megabyte a thousand where tasks are graphs.
const MOST_ROWS = 8192;

/**
 * A run as a folder that trains on from its checkpoint on an engine: the tasks that the page would draw next, update after update, and those it
 * evaluates. Throws ProblemError where only the page knows its environment's rules, or its agent speaks text.
 */
export function handOver(engine: Engine, run: PackedRun, env: ToolEnv): Files {
  const { config } = run;
  const { progress } = run.checkpoint;
  checkHandover(env, config);
  const { seed, prompts, updates } = config;
  const count = prompts * Math.min(updates, Math.max(1, Math.floor(MOST_ROWS / prompts)));
  const train = Array.from({ length: count }, (_, i) => {
    const task = trainTaskSeed(seed, progress.update + 1 + Math.floor(i / prompts), i % prompts);
    return { seed: task, environmentSeed: task };
  });
  const begin = evaluatedReset(env);
  const seeds = evaluatedTasks(distinctSeeds(env, begin, config), config, 'once');
  return handoverFiles(engine, { run, env, train, val: { begin, seeds } });
}

/** The environment of a run that can be handed over; throws ProblemError for one that cannot. */
export async function handoverEnvironment(run: PackedRun, host: Pick<Host, 'shippedFile'>): Promise<ToolEnv> {
  const { begun, chatTokenizer = null } = run.checkpoint;
  // say so at once: opening the environment would first ask for the checkpoint, or run a person's program
  if (begun.model === 'checkpoint' || begun.env === YOUR_ENVIRONMENT) throw handoverProblem({ name: begun.env }, begun);
  const { env } = await openEnvironment(begun, { facts: run.facts, chatTokenizer }, host);
  checkHandover(env, begun);
  return env;
}

/**
 * A run as a zip for an engine, as its checkpoint has it, and what became of its knobs; without an engine those alone. Throws ProblemError
 * as `handoverEnvironment` does.
 */
export async function handed(
  { engine, run }: Extract<FolderTask, { kind: 'handover' }>,
  host: Pick<Host, 'shippedFile'>,
): Promise<Extract<FolderAnswer, { kind: 'handed' }>> {
  const env = await handoverEnvironment(run, host);
  return { kind: 'handed', knobs: mappedKnobs(run.config), zip: engine && zipOf(handOver(engine, run, env)) };
}
