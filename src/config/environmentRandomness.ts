import { actsIn, ENVIRONMENTS } from './environments.ts';
import type { RunConfig } from './fields.ts';

// knobs that make an environment random if they are above 0
const RANDOM_KNOBS = ['failureRate', 'latency', 'distractors', 'slip'] as const;

/** Whether the same actions on the same task can have different outcomes, because the environment draws random numbers. */
export function hasRandomness(config: Pick<RunConfig, 'env' | (typeof RANDOM_KNOBS)[number]>): boolean {
  const { env } = config;
  return (
    ENVIRONMENTS[env].hasRandomPayoffs === true || RANDOM_KNOBS.some((knob) => actsIn(knob, env) && config[knob] > 0)
  );
}

/** For each setting of `randomness`: what a comparison within a group says about the actions, in one or two sentences. */
export const RANDOMNESS_NOTES: Readonly<Record<RunConfig['randomness'], string>> = {
  own: 'Each rollout had its own random environment, so a lucky one is credited for luck too. Over many rollouts this evens out.',
  group:
    'All rollouts had the same random environment, so they differ by their actions alone. An action that pays rarely looks bad in most groups.',
};
