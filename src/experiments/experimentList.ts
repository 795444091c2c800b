import { ablation } from './ablationExperiment.ts';
import { algorithms } from './algorithmsExperiment.ts';
import { echoTrap } from './echoTrapExperiment.ts';
import type { Experiment } from './experimentDefinition.ts';
import { learning } from './learningExperiment.ts';
import { preferences } from './preferencesExperiment.ts';
import { rolloutShaping } from './rolloutShapingExperiment.ts';

/** All experiments, by their names on the command line and in the address. */
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

/**
 * The experiments whose results are shipped as public/experiments/NAME.jsonl. They are shown before the user has run
 * anything.
 */
export const SHIPPED_EXPERIMENTS: readonly ExperimentName[] = [
  'learning',
  'ablation',
  'echo-trap',
  'algorithms',
  'preferences',
];

/** Whether a text is the name of an experiment. */
export function isExperiment(name: string): name is ExperimentName {
  return Object.hasOwn(EXPERIMENTS, name);
}
