import { type ModelConfig, parameters } from '../model/architecture.ts';
import { outputBiases } from './model.ts';

/** The advice for a checkpoint whose tensors do not fit its config.json. */
export const OTHER_FILES = 'Choose a checkpoint whose files belong together.';

/** The error words for a bias that must be absent or 0: what was found, and what is expected. */
export const NO_BIAS = ['a bias that is not 0', 'none, or zeros'] as const;

/** The tensors that belong to a model, and those it computes without, which have to be 0. */
export interface Fitting<T> {
  readonly weights: ReadonlyMap<string, T>; // by Hugging Face name
  readonly zeros: ReadonlyMap<string, T>; // biases of o_proj that Llama's attention_bias asks for
  readonly head: T | null; // an output head beside an embedding that the config ties: `HEAD` if it differs, nothing if it is equal
  readonly unused: readonly string[]; // tensors that no reader of the file needs
}

/** The output head and the embedding that it may share its numbers with. */
export const HEAD = 'lm_head.weight';
export const EMBEDDING = 'model.embed_tokens.weight';

/** Frequencies of rotary positions, which old programs saved. They follow from config.json, and Transformers skips them too. */
const FREQUENCIES = /(^|\.)rotary_emb\.inv_freq$/;

/**
 * Finds a model's tensors among those of a file, which calls them by `fileName` of their Hugging Face names. What is missing, of another shape,
 * or more than the model has is noted. An output head that stands in for a tied embedding becomes the embedding, as in Transformers.
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
    return { weights, zeros, head: null, unused: [] };
  }
  const known = new Set(parameters({ ...model, tie_word_embeddings: false }).map(({ name }) => fileName(name)));
  const fits = (name: string, found: T | undefined, shape: readonly number[]): found is T => {
    const want = `[${shape.join(',')}]`;
    if (!found) wrong(fileName(name), 'no such tensor', want);
    else if (found.shape.join(',') !== shape.join(','))
      wrong(fileName(name), `[${found.shape.join(',')}]`, want, found);
    else return true;
    return false;
  };
  const head = model.tie_word_embeddings ? tensors.get(fileName(HEAD)) : undefined;
  const alone = head !== undefined && !tensors.has(fileName(EMBEDDING));
  for (const { name, shape } of parameters(model)) {
    const found = alone && name === EMBEDDING ? head : tensors.get(fileName(name));
    if (fits(name, found, shape)) weights.set(name, found);
  }
  const beside = head !== undefined && !alone && fits(HEAD, head, [model.vocab_size, model.hidden_size]) ? head : null;
  for (const name of model.attention_bias ? outputBiases(model).map(fileName) : []) {
    const found = tensors.get(name);
    if (found) zeros.set(name, found);
    known.add(name);
  }
  const unused: string[] = [];
  for (const [name, tensor] of tensors) {
    if (FREQUENCIES.test(name)) unused.push(name);
    else if (!known.has(name)) wrong(name, 'a tensor more', 'none of this name', tensor);
  }
  return { weights, zeros, head: beside, unused };
}
