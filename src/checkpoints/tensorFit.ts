import { type ModelConfig, parameters } from '../model/architecture.ts';
import { outputBiases } from './modelConfigFile.ts';

/** The advice for a checkpoint whose tensors do not fit its config.json. */
export const MISMATCH_REMEDY = 'Choose a checkpoint whose files belong together.';

/** The error words for a bias that must be absent or 0: what was found, and what is expected. */
export const NO_BIAS = ['a bias that is not 0', 'none, or zeros'] as const;

/** The tensors of a file, sorted by their role in the model. */
export interface ModelTensors<T> {
  readonly weights: ReadonlyMap<string, T>; // by Hugging Face name
  /** Biases of o_proj. They have to be 0, because this project's network has none. */
  readonly zeroBiases: ReadonlyMap<string, T>;
  /** The output head of a file whose config ties it to the embedding, if the file has both. */
  readonly separateHead: T | null;
  readonly unused: readonly string[]; // tensors that nobody needs
}

export const HEAD_NAME = 'lm_head.weight';
/** The name of the embedding, which may be tied to the head: then one matrix is both. */
export const EMBEDDING_NAME = 'model.embed_tokens.weight';

/** Old programs saved these. They follow from config.json, and Transformers skips them too. */
const ROTARY_FREQUENCIES = /(^|\.)rotary_emb\.inv_freq$/;

/**
 * Finds a model's tensors among the tensors of a file. `fileName` translates a Hugging Face name to the file's name.
 * Calls `report` for each tensor that is missing, has another shape, or doesn't belong to the model. If a file has only
 * the output head of a tied model, the head becomes the embedding, as in Transformers.
 */
export function findModelTensors<T extends { readonly shape: readonly number[] }>(
  model: ModelConfig,
  tensors: ReadonlyMap<string, T>,
  report: (place: string, got: string, want: string, tensor?: T) => void,
  fileName: (name: string) => string = (name) => name,
): ModelTensors<T> {
  const [weights, biasesOfO] = [new Map<string, T>(), new Map<string, T>()];
  // stop early, so that a file with few tensors cannot claim a huge number of layers
  if (model.num_hidden_layers * 7 > tensors.size) {
    report('', `${tensors.size} tensors`, `those of ${model.num_hidden_layers} layers`);
    return { weights, zeroBiases: biasesOfO, separateHead: null, unused: [] };
  }
  const knownNames = new Set(parameters({ ...model, tie_word_embeddings: false }).map(({ name }) => fileName(name)));
  const fits = (name: string, found: T | undefined, shape: readonly number[]): found is T => {
    const want = `[${shape.join(',')}]`;
    if (!found) report(fileName(name), 'no such tensor', want);
    else if (found.shape.join(',') !== shape.join(','))
      report(fileName(name), `[${found.shape.join(',')}]`, want, found);
    else return true;
    return false;
  };
  const head = model.tie_word_embeddings ? tensors.get(fileName(HEAD_NAME)) : undefined;
  const onlyHead = head !== undefined && !tensors.has(fileName(EMBEDDING_NAME));
  for (const { name, shape } of parameters(model)) {
    const found = onlyHead && name === EMBEDDING_NAME ? head : tensors.get(fileName(name));
    if (fits(name, found, shape)) weights.set(name, found);
  }
  const separateHead =
    head !== undefined && !onlyHead && fits(HEAD_NAME, head, [model.vocab_size, model.hidden_size]) ? head : null;
  for (const name of model.attention_bias ? outputBiases(model).map(fileName) : []) {
    const found = tensors.get(name);
    if (found) biasesOfO.set(name, found);
    knownNames.add(name);
  }
  const unused: string[] = [];
  for (const [name, tensor] of tensors) {
    if (ROTARY_FREQUENCIES.test(name)) unused.push(name);
    else if (!knownNames.has(name)) report(name, 'an unknown tensor', 'none of this name', tensor);
  }
  return { weights, zeroBiases: biasesOfO, separateHead, unused };
}
