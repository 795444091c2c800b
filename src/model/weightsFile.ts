import { parameters, type ModelConfig, type Weights } from './architecture.ts';
import { decodeSafetensors, encodeSafetensors, type SafeTensor } from '../formats/safetensors.ts';

export { decodeSafetensors, encodeSafetensors, type Safetensors, type SafeTensor } from '../formats/safetensors.ts';

/** Most tensors an error names. */
const MOST_NAMED = 3;

/** A `model.safetensors` of the model's weights, in layout order; `format: pt` is what Transformers asks for. */
export function weightsFileOf(
  model: ModelConfig,
  weights: Weights,
  metadata: Readonly<Record<string, string>> = {},
): ArrayBuffer {
  const tensors = new Map<string, SafeTensor>();
  for (const { name, shape } of parameters(model)) {
    const values = weights.get(name);
    if (!values) throw new Error(`weightsFileOf: ${name} is missing. Every parameter of the model is needed.`);
    tensors.set(name, { shape, values });
  }
  return encodeSafetensors(tensors, { format: 'pt', ...metadata });
}

/**
 * The weights of `model` in a safetensors file. A missing value head is zero, and tensors that a model of this kind can have but
 * this one does not use (a tied `lm_head.weight`, a value head) are left out. Throws, naming each side, when the file is
 * malformed, or a tensor is missing, unknown, of another shape, or not float32.
 */
export function readWeightsFile(model: ModelConfig, file: ArrayBuffer): Weights {
  const { tensors } = decodeSafetensors(file);
  const weights = new Map<string, Float32Array>();
  const problems: string[] = [];
  for (const { name, shape, size } of parameters(model)) {
    const tensor = tensors.get(name);
    if (tensor === undefined) {
      if (name.startsWith('value_head.')) weights.set(name, new Float32Array(size));
      else problems.push(`${name} is missing, this model wants [${shape.join(',')}]`);
    } else if (tensor.shape.join(',') !== shape.join(',')) {
      problems.push(`${name} is [${tensor.shape.join(',')}], this model wants [${shape.join(',')}]`);
    } else if (tensor.values instanceof Float32Array) {
      weights.set(name, tensor.values);
    } else {
      problems.push(`${name} holds whole numbers, this model wants F32`);
    }
  }
  for (const name of tensors.keys()) {
    const spare = name === 'lm_head.weight' || name.startsWith('value_head.');
    if (!weights.has(name) && !spare && !problems.some((p) => p.startsWith(`${name} `))) {
      problems.push(`${name} is there, this model has no such tensor`);
    }
  }
  if (problems.length > 0) {
    const more = problems.length - MOST_NAMED;
    throw new Error(
      `checkpoint: ${problems.slice(0, MOST_NAMED).join('; ')}${more > 0 ? `; and ${more} more` : ''}. Set width, layers, heads, kvHeads, ffn and the environment to those the checkpoint was saved with.`,
    );
  }
  return weights;
}
