import { modelConfig, type ModelConfig } from '../model/architecture.ts';
import type { Checkpoint } from '../runs/checkpoint.ts';

/** The network a checkpoint is of, where its knobs say how large it is. */
export function modelOf({ begun, vocabulary }: Checkpoint): ModelConfig {
  return modelConfig(begun, vocabulary.length, begun.critic === 'shared');
}

/** Names of biases that a Llama with `attention_bias` has and this project's network has not: they are 0. */
export function outputBiases({ num_hidden_layers }: ModelConfig): readonly string[] {
  return Array.from({ length: num_hidden_layers }, (_, i) => `model.layers.${i}.self_attn.o_proj.bias`);
}
