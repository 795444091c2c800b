import { encodeSafetensors } from '../formats/safetensors.ts';
import { type Checkpoint, checkpointTensors, POLICY_WEIGHTS_PREFIX } from '../runs/checkpoint.ts';

/**
 * training_state.safetensors: the arrays of a checkpoint, named as in `checkpointTensors`. The policy's weights are
 * left out, because the model's file has them, unless they are adapters. `shapes` has the shapes of weights by name;
 * all other arrays are written as lists.
 */
export function trainingStateFile(checkpoint: Checkpoint, shapes: ReadonlyMap<string, readonly number[]>): ArrayBuffer {
  const tensors = [...checkpointTensors(checkpoint)]
    .filter(([name]) => checkpoint.base !== undefined || !name.startsWith(POLICY_WEIGHTS_PREFIX))
    .map(([name, values]) => {
      const shape = shapes.get(name.replace(/^\w+\.\w+\./, '')); // without the prefix, such as `policy.adamM.`
      return [name, { shape: shape?.reduce((a, b) => a * b, 1) === values.length ? shape : [values.length], values }] as const; // prettier-ignore
    });
  return encodeSafetensors(new Map(tensors), { format: 'pt' });
}
