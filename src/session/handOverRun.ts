import type { Files } from '../checkpoints/checkpointFolder.ts';
import type { Engine } from '../config/mappedKnob.ts';
import { createEnv } from '../envs/index.ts';
import type { Facts } from '../facts/facts.ts';
import { zipOf } from '../formats/zip.ts';
import { mappedKnobs } from '../handover/mapping.ts';
import { checkHandover, runFiles } from '../handover/runFolder.ts';
import { distinctSeeds, evaluatedReset, evaluatedTasks } from '../rl/evaluatedTasks.ts';
import { trainTaskSeed } from '../rl/settings.ts';
import type { PackedRun } from '../runs/packed.ts';
import type { FolderAnswer, FolderTask } from '../wire/folderMessages.ts';
import type { Host } from './host.ts';
import { factsFor } from './shippedFacts.ts';

/**
 * Largest number of rows in train.jsonl, except that there is always at least one update. A thousand tasks with graphs
 * take half a megabyte.
 */
const MAX_TRAIN_ROWS = 8192;

/** What a handed-over folder needs besides the run: where shipped files are, and the virtual machine. */
export type HandoverHost = Pick<Host, 'shippedFile' | 'quickjsWasm'>;

/**
 * The files of a folder with which an engine continues a run from its checkpoint. It contains the tasks of the next
 * updates, as the page would draw them, and the tasks of the evaluation. Throws ProblemError if the run trains
 * adapters, its agent uses text, or a person wrote its environment.
 */
export async function handOver(engine: Engine, run: PackedRun, host: HandoverHost): Promise<Files> {
  const { config } = run;
  const { progress } = run.checkpoint;
  const { env, facts } = await handoverEnvironment(run, host);
  const { seed, prompts, updates } = config;
  const count = prompts * Math.min(updates, Math.max(1, Math.floor(MAX_TRAIN_ROWS / prompts)));
  const train = Array.from({ length: count }, (_, i) => {
    const task = trainTaskSeed(seed, progress.update + 1 + Math.floor(i / prompts), i % prompts);
    return { seed: task, environmentSeed: task };
  });
  const val = evaluatedTasks(distinctSeeds(env, evaluatedReset(env), config), config, 'once');
  if (!host.quickjsWasm) throw new Error('handOver: the host has no virtual machine.');
  return runFiles(engine, { run, env, facts, train, val, quickjsWasm: await host.quickjsWasm() });
}

/** The environment of a run, and the facts it was made from. Throws ProblemError if the run can't be handed over. */
async function handoverEnvironment({ checkpoint: { begun }, facts: own }: PackedRun, { shippedFile }: HandoverHost) {
  checkHandover(begun);
  const facts: Facts | null = await factsFor(begun, own, shippedFile);
  return { env: createEnv(begun, facts), facts };
}

/**
 * Exports the checkpoint of a run as a zip for an engine, with a list that says how each knob was translated. Without
 * an engine, only the list. Throws ProblemError as `handOver` does.
 */
export async function handoverAnswer(
  { engine, run }: Extract<FolderTask, { kind: 'handover' }>,
  host: HandoverHost,
): Promise<Extract<FolderAnswer, { kind: 'handed' }>> {
  checkHandover(run.checkpoint.begun);
  return { kind: 'handed', knobs: mappedKnobs(run.config), zip: engine && zipOf(await handOver(engine, run, host)) };
}
