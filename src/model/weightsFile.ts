import { parameters, type ModelConfig, type Weights } from './architecture.ts';
import { decodeSafetensors, encodeSafetensors, type SafeTensor } from '../formats/safetensors.ts';

export { decodeSafetensors, encodeSafetensors, type Safetensors } from '../formats/safetensors.ts';

/** Maximum number of problems that an error lists. */
const MAX_LISTED = 3;

/** A `model.safetensors` file of the model's weights, in layout order. Transformers needs `format: pt` in the metadata. */
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
 * Reads the weights of `model` from a safetensors file. A missing value head is zero. A `lm_head.weight` or value head
 * that this model does not use is ignored. Throws if the file is malformed, or if a tensor is missing, unknown, of
 * another shape or not float32; the error says what the file has and what the model needs.
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
    const ignored = name === 'lm_head.weight' || name.startsWith('value_head.');
    if (!weights.has(name) && !ignored && !problems.some((p) => p.startsWith(`${name} `))) {
      problems.push(`${name} is there, this model has no such tensor`);
    }
  }
  if (problems.length > 0) {
    const unlisted = problems.length - MAX_LISTED;
    throw new Error(
      `checkpoint: ${problems.slice(0, MAX_LISTED).join('; ')}${unlisted > 0 ? `; and ${unlisted} more` : ''}. Set width, layers, heads, kvHeads, ffn and the environment to those the checkpoint was saved with.`,
    );
  }
  return weights;
}
