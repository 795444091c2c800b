import { ablation } from './ablationExperiment.ts';
import { algorithms } from './algorithmsExperiment.ts';
import { echoTrap } from './echoTrapExperiment.ts';
import type { Experiment } from './experimentDefinition.ts';
import { learning } from './learningExperiment.ts';
import { preferences } from './preferencesExperiment.ts';
import { rolloutShaping } from './rolloutShapingExperiment.ts';

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
