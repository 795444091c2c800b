import type { BaseCheckpoint } from '../checkpoints/baseCheckpoint.ts';
import { contradictions } from '../config/contradictions.ts';
import { ConfigError } from '../config/configProblem.ts';
import type { RunConfig } from '../config/fields.ts';
import type { TrainingPlan } from '../domain/modelCard.ts';
import { openEnvironment } from './environment.ts';
import type { Host } from './host.ts';
import { trainingPlan } from './trainingMemory.ts';

/**
 * The memory that a run would need to train adapters of a checkpoint, of which only the headers were read. The plan is
 * for the GPU if there is one and the run fits, otherwise for the CPU. Throws ConfigError if knobs contradict each
 * other, and what `openEnvironment` throws.
 */
export async function plannedTraining(
  config: RunConfig,
  base: Pick<BaseCheckpoint, 'model' | 'weights' | 'chatTokenizer'>,
  host: Pick<Host, 'shippedFile' | 'gpu'>,
): Promise<TrainingPlan> {
  const problems = contradictions(config);
  if (problems.length > 0) throw new ConfigError(problems);
  const envOf = async (knobs: RunConfig) =>
    (await openEnvironment(knobs, { facts: null, chatTokenizer: null, base }, host)).env;
  const env = await envOf(config);
  const { gpu } = host;
  if (gpu && config.backend !== 'cpu') {
    const { gpuTrainingParts } = await import('./gpuTrainingParts.ts');
    const parts = await gpuTrainingParts(gpu, config, base, env);
    const bytes = parts?.reduce((sum, part) => sum + part.bytes, 0) ?? 0;
    if (parts) return { engine: 'gpu', parts, bytes, maxBytes: null, fitting: [] };
  }
  return trainingPlan(config, base, env, envOf);
}
