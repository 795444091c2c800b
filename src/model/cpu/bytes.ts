import type { ModelConfig } from '../architecture.ts';
import { criticConfig, type PolicySpec } from '../policy.ts';
import { activationSize, capacityOf } from './activations.ts';
import { headSize } from './head.ts';
import { placements } from './network.ts';
import { bytesPer, type Precision } from './real.ts';

/** An upper bound of a policy's memory: every row full, and all of them learned from at once. */
export function bytesNeeded({ model, rows, length, critic }: PolicySpec, precision: Precision): number {
  const scalars = (m: ModelConfig) => placements(m).reduce((sum, p) => sum + p.size, 0);
  const capacity = capacityOf(rows, length);
  const networks = critic === 'separate' ? [model, criticConfig(model)] : [model];
  const pools = networks.reduce((sum, m) => sum + 4 * scalars(m), 0) + scalars(model);
  const cache = 2 * model.num_hidden_layers * rows * length * model.num_key_value_heads * model.head_dim;
  const drawn = rows * (model.vocab_size + model.hidden_size);
  const passes = networks.length * activationSize(model, capacity) + headSize(model, capacity.tokens);
  return (
    bytesPer(precision) * (pools + cache + drawn + passes + length * model.head_dim + 7 * rows * length) +
    85 * rows * length
  );
}
