import type { RunConfig } from '../config/config.ts';
import type { EpisodeSeeds, Reset, ToolEnv } from '../envs/env.ts';
import { envSettings } from '../envs/index.ts';
import { rowsPerTurn } from '../envs/rowsPerTurn.ts';
import type { Policy } from '../model/policy.ts';
import { type BatchView, SCORE_NAMES } from '../domain/batch.ts';
import { tokenRecord } from '../domain/tokens.ts';
import { Purpose, streamKey } from '../base/rng.ts';
import { rollout } from './rollout.ts';
import { batchView } from './summarize.ts';

export interface BranchRequest extends EpisodeSeeds {
  readonly begin?: Reset; // begins the episode; default: the environment's own `reset`
  readonly agentPrefix: readonly number[]; // the agent's first tokens; the policy writes the rest
  readonly temperature: number;
  readonly greedy?: boolean; // the likeliest token each time
  readonly yieldToEvents?: () => Promise<void>; // between chunks of tokens: lets the event loop run
  readonly drawIndex: number; // chooses the random draws: the same number gives the same branch
}

/**
 * Plays a task again with the agent's first tokens given. The environment answers as before, as long as the actions are
 * the same. Tokens are drawn from a random stream of their own. `policy` must have one row; its batch is overwritten.
 * It has the log-probabilities of the given tokens too, and nothing is trained on it. Throws if a given token is not
 * legal at its position.
 */
export async function branch(
  policy: Policy,
  env: ToolEnv,
  config: RunConfig,
  {
    seed,
    environmentSeed,
    begin,
    agentPrefix,
    temperature,
    greedy = false,
    yieldToEvents = () => Promise.resolve(),
    drawIndex,
  }: BranchRequest,
): Promise<BatchView> {
  if (policy.rows !== 1) throw new RangeError(`branch: the policy has ${policy.rows} rows. Use one with a single row.`);
  const { topK, topP, decodeChunk } = config;
  const played = await rollout(
    policy,
    env,
    {
      tasks: [{ seed, environmentSeed }],
      groups: Int32Array.of(0),
      settings: envSettings(config),
      ...rowsPerTurn(config),
      ...(begin && { begin }),
      sampling: { key: streamKey(config.seed, Purpose.branch), update: drawIndex, temperature, greedy, topK, topP },
      chunk: decodeChunk,
      agentPrefix,
    },
    yieldToEvents,
  );
  policy.load(tokenRecord(played.record));
  await policy.score(temperature, { reference: false, values: false });
  const batch = batchView(0, played, { groups: Int32Array.of(-1) }, await policy.report(), config);
  return { ...batch, unscored: SCORE_NAMES };
}
