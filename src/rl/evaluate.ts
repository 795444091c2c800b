import type { RunConfig } from '../config.ts';
import type { ToolEnv } from '../envs/env.ts';
import { envSettings } from '../envs/index.ts';
import type { Metrics } from '../metrics.ts';
import type { Policy } from '../model/policy.ts';
import type { EpisodeView } from '../protocol.ts';
import { rollout } from './rollout.ts';
import { evalSampling, evalTaskSeed } from './settings.ts';

/**
 * Held-out success, greedy and at the training temperature, and greedy reward. Tasks and draws come from streams that
 * training never uses; nothing is learned. Overwrites the policy's batch.
 */
export async function evaluate(
  policy: Policy,
  env: ToolEnv,
  config: RunConfig,
  update: number,
  breathe: () => Promise<void>,
): Promise<Metrics> {
  const greedy = await play(policy, env, config, { update, greedy: true }, breathe);
  const sampled = await play(policy, env, config, { update, greedy: false }, breathe);
  return {
    'eval/success': mean(greedy, ({ success }) => (success ? 1 : 0)),
    'eval/success_sampled': mean(sampled, ({ success }) => (success ? 1 : 0)),
    'eval/score': mean(greedy, ({ reward }) => reward),
  };
}

/** One episode of each held-out task, in as many batches as the policy's rows ask for. */
async function play(
  policy: Policy,
  env: ToolEnv,
  config: RunConfig,
  { update, greedy }: { readonly update: number; readonly greedy: boolean },
  breathe: () => Promise<void>,
): Promise<EpisodeView[]> {
  const episodes: EpisodeView[] = [];
  for (let batch = 0; batch * policy.rows < config.evalTasks; batch++) {
    const first = batch * policy.rows;
    const count = Math.min(policy.rows, config.evalTasks - first);
    const played = await rollout(
      policy,
      env,
      {
        seeds: Array.from({ length: count }, (_, i) => evalTaskSeed(config.seed, first + i)),
        groups: Int32Array.from({ length: policy.rows }, (_, row) => row),
        settings: envSettings(config),
        sampling: evalSampling(config, update, batch, greedy),
        chunk: config.decodeChunk,
      },
      breathe,
    );
    episodes.push(...played.episodes);
  }
  return episodes;
}

function mean(episodes: readonly EpisodeView[], of: (episode: EpisodeView) => number): number {
  return episodes.reduce((sum, episode) => sum + of(episode), 0) / episodes.length;
}
