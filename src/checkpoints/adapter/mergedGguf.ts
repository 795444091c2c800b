import { ggufStream, type GgufStreamedTensor, u32Key } from '../../formats/ggufStream.ts';
import type { PackedTensor } from '../../formats/packedTensor.ts';
import { ProblemError } from '../../base/problem.ts';
import type { StreamedFile } from '../../formats/byteSource.ts';
import type { WeightSource } from '../../model/weightSource.ts';
import { ggufName, huggingFaceRow } from '../ggufNames.ts';
import { type OpenedCheckpoint, storedTensorOf } from '../openCheckpoint.ts';
import type { MergedType } from '../../domain/mergedTypes.ts';
import { bytesAs, weightCount, BYTES_PER_NUMBER } from './mergedWeights.ts';

/** ggml's number of each type. `general.file_type` uses the same numbers for the type that most tensors of a file have. */
const GGML_TYPE: Readonly<Record<MergedType, number>> = { F32: 0, F16: 1 };
const FILE_TYPE_KEY = 'general.file_type';
/** Metadata keys that are not copied: they say how the original file was packed and split into parts. */
const PACKING_KEYS = /^(general\.(file_type|quantization_version)$|quantize\.|split\.)/;

/**
 * Writes merged weights (`mergedSource`) as a GGUF file, for a model that was opened from a GGUF file. It keeps the
 * metadata, with tokenizer and template, and the tensors and their order. Matrices are written as `type`, vectors as
 * F32. For architecture `llama`, rows of q and k get the order of GGUF again, in pairs. Throws ProblemError if the
 * model was opened from a folder.
 */
export async function mergedGguf(
  { gguf, model }: OpenedCheckpoint,
  weights: WeightSource,
  type: MergedType,
  name: string,
): Promise<StreamedFile> {
  if (!gguf) {
    const remedy = 'Write the merged model as a folder, and convert that with convert_hf_to_gguf.py of llama.cpp.';
    throw new ProblemError([{ file: name, place: '', got: 'a model that came as a folder', want: 'one that came as a GGUF file', remedy }]); // prettier-ignore
  }
  const { metadata, keyRanges, alignment } = gguf.header;
  const pairedRows = metadata.get('general.architecture') === 'llama';
  const modelNames = new Map(Array.from(weights.keys(), (modelName) => [ggufName(modelName), modelName]));
  const keysToWrite: Uint8Array[] = [];
  for (const [key, [begin, end]] of keyRanges) {
    if (!PACKING_KEYS.test(key)) keysToWrite.push(await gguf.source.read(begin, end));
  }
  keysToWrite.push(u32Key(FILE_TYPE_KEY, GGML_TYPE[type]));
  const tensors = Array.from(gguf.tensors.values(), (packed) => {
    const modelName = modelNames.get(packed.name);
    const sourceRow = modelName !== undefined && pairedRows ? huggingFaceRow(model, modelName) : undefined;
    return mergedTensor(packed, modelName === undefined ? undefined : weights.get(modelName), type, sourceRow);
  });
  return ggufStream(name, keysToWrite, tensors, alignment);
}

/** Its weights are `stored`, or those of the original file if the model has no tensor of this name. */
function mergedTensor(
  packed: PackedTensor,
  stored = storedTensorOf(packed),
  matrixType: MergedType,
  sourceRow?: (row: number) => number,
): GgufStreamedTensor {
  const { name, shape } = packed;
  const type = shape.length > 1 ? matrixType : 'F32';
  const read = async () => {
    const bytes = await bytesAs(type, stored, { file: packed.source.name, name });
    return sourceRow ? reorderedRows(bytes, shape[0] ?? 1, sourceRow) : bytes;
  };
  return { name, shape, type: GGML_TYPE[type], bytes: weightCount(stored) * BYTES_PER_NUMBER[type], read };
}

/** Reorders the rows of a matrix: row i of the result is row `sourceRow(i)` of `bytes`. */
function reorderedRows(bytes: Uint8Array, rows: number, sourceRow: (row: number) => number): Uint8Array {
  const rowBytes = bytes.length / rows;
  const out = new Uint8Array(bytes.length);
  for (let row = 0; row < rows; row++) {
    const sourceByte = sourceRow(row) * rowBytes;
    out.set(bytes.subarray(sourceByte, sourceByte + rowBytes), row * rowBytes);
  }
  return out;
}
