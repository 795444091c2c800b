import { safetensorsHeader } from './safetensors.ts';
import { announced, type StreamedFile, type StreamedTensor } from './streamedFile.ts';

/** A safetensors file of tensors that are read one after the other as it is written; `metadata` as Transformers asks for it. */
export function safetensorsStream(
  name: string,
  tensors: readonly (StreamedTensor & { readonly dtype: string })[],
): StreamedFile {
  const header = safetensorsHeader(tensors, { format: 'pt' });
  const bytes = tensors.reduce((sum, tensor) => sum + tensor.bytes, header.length);
  const pieces = async function* () {
    yield header;
    for (const tensor of tensors) yield await announced(tensor);
  };
  return { name, bytes, pieces };
}
