import type { BaseCheckpoint } from '../checkpoints/base.ts';
import { contradictions } from '../config/contradictions.ts';
import { ConfigError } from '../config/problem.ts';
import type { RunConfig } from '../config/fields.ts';
import type { TrainingPlan } from '../domain/trainingPlan.ts';
import { openEnvironment } from './environment.ts';
import type { Host } from './host.ts';
import { trainingPlan } from './trainingPlan.ts';

/** What a run would take beside a checkpoint whose headers were read. Throws ConfigError where its knobs contradict each other, and what `openEnvironment` does. */
export async function plannedTraining(
  config: RunConfig,
  base: Pick<BaseCheckpoint, 'model' | 'weights' | 'tongue'>,
  host: Pick<Host, 'shippedFile'>,
): Promise<TrainingPlan> {
  const problems = contradictions(config);
  if (problems.length > 0) throw new ConfigError(problems);
  const envOf = async (knobs: RunConfig) =>
    (await openEnvironment(knobs, { facts: null, tongue: null, base }, host)).env;
  return trainingPlan(config, base, await envOf(config), envOf);
}
