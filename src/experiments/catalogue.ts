import { ablation } from './ablation.ts';
import { algorithms } from './algorithms.ts';
import { echoTrap } from './echoTrap.ts';
import type { Experiment } from './experiment.ts';
import { learning } from './learning.ts';
import { preferences } from './preferences.ts';
import { rolloutShaping } from './rolloutShaping.ts';

/** Every experiment, by the name the command line and the address use. */
export const EXPERIMENTS = {
  learning,
  ablation,
  algorithms,
  'echo-trap': echoTrap,
  preferences,
  'rollout-shaping': rolloutShaping,
} as const satisfies Readonly<Record<string, Experiment>>;

export type ExperimentName = keyof typeof EXPERIMENTS;
/** All names, in the order in which they are shown. */
export const EXPERIMENT_NAMES = Object.keys(EXPERIMENTS) as readonly ExperimentName[];

/** Those whose raw results lie in public/experiments/, NAME.jsonl, and are shown before anybody has run anything. */
export const SHIPPED: readonly ExperimentName[] = ['learning', 'ablation', 'echo-trap', 'algorithms', 'preferences'];

/** True for names of EXPERIMENTS. */
export function isExperiment(name: string): name is ExperimentName {
  return Object.hasOwn(EXPERIMENTS, name);
}
