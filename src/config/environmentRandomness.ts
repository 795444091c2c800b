import { actsIn, ENVIRONMENTS } from './environments.ts';
import type { RunConfig } from './fields.ts';

// What these leave to chance, where they act.
const DICE = ['failureRate', 'latency', 'distractors', 'slip'] as const;

/** Whether the environment's dice have a say in what comes of the same actions on the same task. */
export function isRandom(config: Pick<RunConfig, 'env' | (typeof DICE)[number]>): boolean {
  const { env } = config;
  return ENVIRONMENTS[env].payoffDice === true || DICE.some((knob) => actsIn(knob, env) && config[knob] > 0);
}

/** What a comparison within a group says of actions under each setting of `randomness`, in a sentence. */
export const RANDOMNESS_LESSONS: Readonly<Record<RunConfig['randomness'], string>> = {
  own: 'Each rollout had its own random environment, so a lucky one is credited for luck too. Over many rollouts this evens out.',
  group:
    'All rollouts had the same random environment, so they differ by their actions alone. An action that pays rarely looks bad in most groups.',
};
