import type { Files } from '../checkpoints/folder.ts';
import type { ToolEnv } from '../envs/env.ts';
import { zipOf } from '../formats/zip.ts';
import { HandoverError } from '../handover/folder.ts';
import { handoverFiles } from '../handover/index.ts';
import { mappedKnobs } from '../handover/mapping.ts';
import type { Engine } from '../config/mappedKnob.ts';
import { distinctSeeds, evaluatedReset, evaluatedTasks } from '../rl/evaluatedTasks.ts';
import { trainTaskSeed } from '../rl/settings.ts';
import { checkpointOf } from '../runs/checkpoint.ts';
import type { PackedRun } from '../runs/packed.ts';
import type { Answer, Question } from '../wire/questions.ts';
import type { Readers } from './readers.ts';

// Rows of train.jsonl at most, in whole updates: a megabyte a thousand where tasks are graphs.
const MOST_ROWS = 8192;

/**
 * A run as a folder that trains on from its checkpoint on an engine: the tasks that the page would draw next, update after update, and those it
 * evaluates. Throws HandoverError where only the page knows its environment's rules.
 */
export function handOver(engine: Engine, run: PackedRun, env: ToolEnv): Files {
  const { config, progress } = run.checkpoint;
  const { seed, prompts, updates } = config;
  const count = prompts * Math.min(updates, Math.max(1, Math.floor(MOST_ROWS / prompts)));
  const train = Array.from({ length: count }, (_, i) => {
    const task = trainTaskSeed(seed, progress.update + 1 + Math.floor(i / prompts), i % prompts);
    return { seed: task, luck: task };
  });
  const begin = evaluatedReset(env);
  const seeds = evaluatedTasks(distinctSeeds(env, begin, config), config, 'once');
  return handoverFiles(engine, { run, env, train, val: { begin, seeds } });
}

/**
 * The run under way as a zip for an engine, after its last whole update, and what became of its knobs. Throws HandoverError where only the page
 * knows its environment's rules.
 */
export async function handover(
  by: Readers,
  { engine, account }: Extract<Question, { kind: 'handover' }>,
): Promise<Extract<Answer, { kind: 'handover' }>> {
  if (!by.env.data) throw new HandoverError(by.env);
  const knobs = mappedKnobs(by.config());
  if (!account) return { kind: 'handover', knobs, zip: null };
  const now = await by.checkpoint();
  // in the middle of an update the weights are between two of its steps
  const policy = by.history.state(now.progress.update) ?? now.networks.policy;
  const checkpoint = checkpointOf({ ...now, networks: { ...now.networks, policy } });
  const { update } = checkpoint.progress;
  return { kind: 'handover', knobs, zip: zipOf(handOver(engine, { ...account, update, checkpoint }, by.env)) };
}
