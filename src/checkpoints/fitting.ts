import { type ModelConfig, parameters } from '../model/architecture.ts';
import { outputBiases } from './model.ts';

/** What to do with a checkpoint whose tensors are not those of its config.json. */
export const OTHER_FILES = 'Choose a checkpoint whose files belong together.';

/** What was got and is wanted of a bias that the model has to be without. */
export const NO_BIAS = ['a bias that is not 0', 'none, or zeros'] as const;

/** The tensors that belong to a model, and those it computes without, which have to be 0. */
export interface Fitting<T> {
  readonly weights: ReadonlyMap<string, T>; // by Hugging Face name
  readonly zeros: ReadonlyMap<string, T>; // biases of o_proj that Llama's attention_bias asks for
}

/**
 * Finds a model's tensors among those of a file, which calls them by `fileName` of their Hugging Face names. What is missing, of another shape,
 * or more than the model has is noted; a head beside a tied embedding is neither.
 */
export function fittingTensors<T extends { readonly shape: readonly number[] }>(
  model: ModelConfig,
  tensors: ReadonlyMap<string, T>,
  wrong: (place: string, got: string, want: string, tensor?: T) => void,
  fileName: (name: string) => string = (name) => name,
): Fitting<T> {
  const [weights, zeros] = [new Map<string, T>(), new Map<string, T>()];
  // a file of few tensors cannot make this list long
  if (model.num_hidden_layers * 7 > tensors.size) {
    wrong('', `${tensors.size} tensors`, `those of ${model.num_hidden_layers} layers`);
    return { weights, zeros };
  }
  const known = new Set(parameters({ ...model, tie_word_embeddings: false }).map(({ name }) => fileName(name)));
  for (const { name, shape } of parameters(model)) {
    const found = tensors.get(fileName(name));
    const want = `[${shape.join(',')}]`;
    if (!found) wrong(fileName(name), 'no such tensor', want);
    else if (found.shape.join(',') !== shape.join(','))
      wrong(fileName(name), `[${found.shape.join(',')}]`, want, found);
    else weights.set(name, found);
  }
  for (const name of model.attention_bias ? outputBiases(model).map(fileName) : []) {
    const found = tensors.get(name);
    if (found) zeros.set(name, found);
    known.add(name);
  }
  for (const [name, tensor] of tensors) {
    if (!known.has(name)) wrong(name, 'a tensor more', 'none of this name', tensor);
  }
  return { weights, zeros };
}
