import { modelConfig, type ModelConfig } from '../model/architecture.ts';
import type { Checkpoint } from '../runs/checkpoint.ts';

/** The network a checkpoint is of. */
export function modelOf({ begun, vocabulary }: Checkpoint): ModelConfig {
  return modelConfig(begun, vocabulary.length, begun.critic === 'shared');
}
