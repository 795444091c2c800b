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

/** A policy with room for a whole batch in which updates are done again. Nothing of the run can be reached from it. */
export interface Replay {
  readonly policy: ReadingPolicy;
  readonly math: TermMath;
}

/** Opens one beside `policy`, on the CPU whatever the run computes on. Throws BackendError when a tab has no memory for it. */
export function openReplay({ model, rows, length }: Policy, seed: number): Replay {
  const math = createTermMath();
  const spec = readingSpec({ model, length }, rows);
  return { policy: createCpuPolicy(spec, math, { precision: 'f32', seed, reason: '' }), math };
}

/** What a policy beside a run holds that answers with `rows` rows: no critic of its own. */
export function readingSpec({ model, length }: Pick<Policy, 'model' | 'length'>, rows: number): PolicySpec {
  return { model, critic: model.value_head ? 'shared' : 'none', rows, length, minibatchRows: rows };
}

/** Rolls out the tasks of `update` with the draws it had, by a policy of other weights. */
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
