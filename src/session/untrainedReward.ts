import { parseConfig } from '../config/config.ts';
import { YOUR_ENVIRONMENT_PRESET } from '../config/presets.ts';
import { rollout } from '../rl/rollout.ts';
import { trainingTasks } from '../rl/trainer.ts';
import type { Host } from './host.ts';
import type { UntrainedPlay } from '../domain/checkFindings.ts';
import { openSession } from './session.ts';

/**
 * Plays an untrained model on a person's environment. Its reward is the mean over one batch of training tasks, played by the
 * model of a default run with random weights, at temperature 1 and under the grammar mask. As in the environment check,
 * the reward is the weighted sum of the parts of `getReward()`, without format penalty and without rewards for turns.
 * The model runs on the CPU. Throws EnvironmentFileError if the file is faulty, and ConfigError if a default run isn't
 * possible.
 */
export async function untrainedReward(
  seed: number,
  host: Pick<Host, 'now' | 'yieldToEvents'> & Pick<Required<Host>, 'ownEnvironment'>,
): Promise<UntrainedPlay> {
  const config = parseConfig({
    ...YOUR_ENVIRONMENT_PRESET.set,
    seed,
    warmStart: 'none',
    backend: 'cpu',
    outcomeReward: 1,
  });
  const cpuHost = { ...host, gpu: undefined, shippedFile: () => Promise.resolve(null) };
  const session = await openSession(config, cpuHost, () => undefined);
  try {
    const { policy, env } = session;
    const { episodes } = await rollout(policy, env, trainingTasks(policy, session.config(), 1), host.yieldToEvents);
    return {
      reward: episodes.reduce((sum, { parts }) => sum + parts.outcome, 0) / episodes.length,
      episodeTokens: env.maxTokens,
      ...{ prompts: session.config().prompts, defaultPrompts: config.prompts },
    };
  } finally {
    session.dispose();
  }
}
