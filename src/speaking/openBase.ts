import { type BaseCheckpoint, markOf } from '../checkpoints/baseCheckpoint.ts';
import { ProblemError } from '../base/problem.ts';
import { openTextCheckpoint, type PlacedSource } from './textCheckpoint.ts';

/**
 * Opens a GGUF file or the files of a Transformers folder as what a run puts adapters beside. `name` is what people call it. Throws ProblemError, by
 * file and place, with what is wrong; also where it has no chat template, without which no tool can be told to it.
 */
export async function openBase(name: string, files: readonly PlacedSource[]): Promise<BaseCheckpoint> {
  const { opened, codec, template } = await openTextCheckpoint(files);
  if (!template) {
    const remedy = 'Choose an instruct model, such as SmolLM2-135M-Instruct.';
    throw new ProblemError([{ file: name, place: 'chat template', got: 'none', want: 'one', remedy }]);
  }
  const mark = await markOf(name, files);
  const { model, weights } = opened;
  return { mark, model, weights, chatTokenizer: { codec, template, size: model.vocab_size } };
}
