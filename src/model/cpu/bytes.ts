import type { ModelConfig } from '../architecture.ts';
import { criticConfig, type PolicySpec } from '../policy.ts';
import { activationSize, capacityOf } from './activations.ts';
import { headSize } from './head.ts';
import { placements } from './network.ts';
import { bytesPer, type Precision } from './real.ts';

/** An upper bound of a policy's memory by purpose: every row full, and all of them learned from at once. */
export function memoryOf({ model, rows, length, critic }: PolicySpec, precision: Precision) {
  const scalars = (m: ModelConfig) => placements(m).reduce((sum, p) => sum + p.size, 0);
  const capacity = capacityOf(rows, length);
  const networks = critic === 'separate' ? [model, criticConfig(model)] : [model];
  const pool = networks.reduce((sum, m) => sum + scalars(m), 0);
  const cache = 2 * model.num_hidden_layers * rows * length * model.num_key_value_heads * model.head_dim;
  const drawn = rows * (model.vocab_size + model.hidden_size);
  const passes = networks.length * activationSize(model, capacity) + headSize(model, capacity.tokens);
  const each = bytesPer(precision);
  return [
    { purpose: 'weights, the reference’s too', bytes: each * (pool + scalars(model)) },
    { purpose: 'gradients', bytes: each * pool },
    { purpose: 'Adam’s moments', bytes: each * 2 * pool },
    { purpose: 'activations and their gradients', bytes: each * (passes + length * model.head_dim) },
    { purpose: 'key-value cache', bytes: each * cache },
    { purpose: 'batch, credit and draws', bytes: each * (drawn + 7 * rows * length) + 85 * rows * length },
  ];
}

/** The sum of `memoryOf`. */
export function bytesNeeded(spec: PolicySpec, precision: Precision): number {
  return memoryOf(spec, precision).reduce((sum, { bytes }) => sum + bytes, 0);
}
