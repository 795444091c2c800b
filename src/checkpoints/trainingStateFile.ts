import { encodeSafetensors } from '../formats/safetensors.ts';
import { type Checkpoint, checkpointTensors, POLICY_WEIGHTS } from '../runs/checkpoint.ts';

/**
 * training_state.safetensors: the arrays of a checkpoint by the names that `checkpointTensors` gives them. The policy's weights are among them only if they
 * are adapters; else the model's own file holds them. `shapes` are those of weights, by their own names; any other array is a list.
 */
export function trainingStateFile(checkpoint: Checkpoint, shapes: ReadonlyMap<string, readonly number[]>): ArrayBuffer {
  const tensors = [...checkpointTensors(checkpoint)]
    .filter(([name]) => checkpoint.base !== undefined || !name.startsWith(POLICY_WEIGHTS))
    .map(([name, values]) => {
      const shape = shapes.get(name.replace(/^\w+\.\w+\./, '')); // without owner and pool
      return [name, { shape: shape?.reduce((a, b) => a * b, 1) === values.length ? shape : [values.length], values }] as const; // prettier-ignore
    });
  return encodeSafetensors(new Map(tensors), { format: 'pt' });
}
