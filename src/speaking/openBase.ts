import { type BaseCheckpoint, fullMark } from '../checkpoints/baseCheckpoint.ts';
import { ProblemError } from '../base/problem.ts';
import { openTextCheckpoint, type FileInFolder } from './textCheckpoint.ts';

/**
 * Opens a GGUF file or the files of a Transformers folder as the base of a run that trains adapters. `name` is shown to
 * people. Throws ProblemError with file and place if something is wrong, also if there is no chat template, because the
 * model then can't be told about its tools.
 */
export async function openBase(name: string, files: readonly FileInFolder[]): Promise<BaseCheckpoint> {
  const { opened, codec, template } = await openTextCheckpoint(files);
  if (!template) {
    const remedy = 'Choose an instruct model, such as SmolLM2-135M-Instruct.';
    throw new ProblemError([{ file: name, place: 'chat template', got: 'none', want: 'one', remedy }]);
  }
  const mark = await fullMark(name, files);
  const { model, weights } = opened;
  return { mark, model, weights, chatTokenizer: { codec, template, embeddingRows: model.vocab_size } };
}
