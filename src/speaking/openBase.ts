import { FILES } from '../checkpoints/folder.ts';
import { type BaseCheckpoint, baseMark } from '../checkpoints/base.ts';
import { FormatError } from '../formats/problem.ts';
import { openTextCheckpoint, type PlacedSource } from './textCheckpoint.ts';

// What is neither weights nor read by a run does not make it another checkpoint.
const READ: readonly string[] = [FILES.config, FILES.generation, FILES.index, FILES.tokenizer, FILES.tokenizerConfig, FILES.template]; // prettier-ignore

/**
 * Opens a GGUF file or the files of a Transformers folder as what a run puts adapters beside. `name` is what people call it. Throws FormatError, by
 * file and place, with what is wrong; also where it has no chat template, without which no tool can be told to it.
 */
export async function openBase(name: string, files: readonly PlacedSource[]): Promise<BaseCheckpoint> {
  const { opened, codec, template } = await openTextCheckpoint(files);
  if (!template) {
    const remedy = 'Choose an instruct model, such as SmolLM2-135M-Instruct.';
    throw new FormatError([{ file: name, place: 'chat template', got: 'none', want: 'one', remedy }]);
  }
  const gguf = files.find(({ path }) => /\.gguf$/i.test(path));
  const nameOf = (path: string) => path.split('/').at(-1) ?? path;
  const parts = files.filter(({ path }) => READ.includes(nameOf(path)) || /\.safetensors$/i.test(path));
  const sources = gguf ? [gguf] : parts;
  const mark = await baseMark(
    name,
    sources.map(({ path, source }) => ({ ...source, name: nameOf(path) })),
  );
  const { model, weights } = opened;
  return { mark, model, weights, tongue: { codec, template, size: model.vocab_size } };
}
