import { modelConfig, type ModelConfig } from '../model/architecture.ts';
import type { Checkpoint } from '../runs/checkpoint.ts';

/** The network of a checkpoint whose knobs define its size (not of a run with a base checkpoint). */
export function modelOf({ begun, vocabulary }: Checkpoint): ModelConfig {
  return modelConfig(begun, vocabulary.length, begun.critic === 'shared');
}

/** The names of biases that a Llama with `attention_bias` has but this project's network does not. They are 0. */
export function outputBiases({ num_hidden_layers }: ModelConfig): readonly string[] {
  return Array.from({ length: num_hidden_layers }, (_, i) => `model.layers.${i}.self_attn.o_proj.bias`);
}
