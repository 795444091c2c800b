import type { RunConfig } from '../config/config.ts';
import type { ToolEnv } from '../envs/env.ts';
import type { Weights } from '../model/architecture.ts';
import { createCpuPolicy } from '../model/cpu/cpuPolicy.ts';
import type { Policy, PolicySpec } from '../model/policy.ts';
import type { PlayedBatch } from '../domain/batch.ts';
import { rollout } from '../rl/rollout.ts';
import { trainingTasks } from '../rl/trainer.ts';
import type { ReadingPolicy } from './readingPolicy.ts';
import { createTermMath, type TermMath } from './termMath.ts';

/**
 * A second policy, large enough for a whole batch, in which updates of the run are repeated. It shares no weights or
 * buffers with the run.
 */
export interface Replay {
  readonly policy: ReadingPolicy;
  readonly math: TermMath;
}

/**
 * Creates a replay for the model and the batch size of `policy`. It always computes on the CPU, in float32. Throws
 * BackendError if the tab has too little memory.
 */
export function openReplay({ model, rows, length }: Policy, seed: number): Replay {
  const math = createTermMath();
  const spec = readingSpec({ model, length }, rows);
  return { policy: createCpuPolicy(spec, math, { seed, reason: '' }), math };
}

/**
 * Returns the sizes of a second policy that answers questions about a run, for batches of `rows` rows. It has no
 * separate critic, even if the run has one. If the model has a value head, the second policy has it too.
 */
export function readingSpec({ model, length }: Pick<Policy, 'model' | 'length'>, rows: number): PolicySpec {
  return { model, critic: model.value_head ? 'shared' : 'none', rows, length, minibatchRows: rows };
}

/**
 * Writes `weights` into the replay's policy and rolls out the tasks of `update` with it, using the random draws that
 * the update used.
 */
export async function rerun(
  { policy }: Replay,
  env: ToolEnv,
  config: RunConfig,
  { update, weights }: { readonly update: number; readonly weights: Weights },
): Promise<PlayedBatch> {
  policy.writeWeights(weights);
  const played = await rollout(policy, env, trainingTasks(policy, config, update), () => Promise.resolve());
  const { rows, length, tokens, roles, turns, lengths } = played.record;
  return { rows, length, tokens, roles, turns, lengths, episodes: played.episodes };
}
