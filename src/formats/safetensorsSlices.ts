import { SAFETENSORS_FORMATS } from './blocks/blockFormats.ts';
import type { ByteSource } from './byteSource.ts';
import { field, isRecord } from '../base/jsonRecord.ts';
import { readJson } from './jsonFile.ts';
import type { PackedTensor } from './packedTensor.ts';
import { ProblemError } from '../base/problem.ts';
import { tensorsOffset, LENGTH_BYTES, readHeader } from './safetensors.ts';

const REMEDY = 'Save the model with save_pretrained(folder).';

/** Reads only the header. Throws ProblemError as `decodeSafetensors` does for a bad one, and if a tensor is not F32, F16 or BF16. */
export async function openSafetensors(source: ByteSource): Promise<ReadonlyMap<string, PackedTensor>> {
  const firstBytes = await source.read(0, Math.min(LENGTH_BYTES, source.size));
  const start = tensorsOffset(source.name, firstBytes, source.size);
  const { entries } = readHeader(source.name, await source.read(LENGTH_BYTES, start), source.size - start);
  const tensors = entries.map(({ key, dtype, shape, begin, end }): [string, PackedTensor] => {
    const format = SAFETENSORS_FORMATS.get(dtype);
    if (format) return [key, { name: key, shape, format, source, begin: start + begin, bytes: end - begin }];
    const want = [...SAFETENSORS_FORMATS.keys()].join(', ');
    throw new ProblemError([{ file: source.name, place: key, got: `type ${dtype}`, want, remedy: REMEDY }]);
  });
  return new Map(tensors);
}

/**
 * Opens a model in several files, by its index (`model.safetensors.index.json`). `sourceOf` gives a file of the folder
 * by name, or null if there is none. Throws ProblemError if the index names a missing file or tensor, or does not list
 * a tensor of a file.
 */
export async function openShards(
  indexFile: string,
  json: Uint8Array,
  sourceOf: (name: string) => ByteSource | null,
): Promise<ReadonlyMap<string, PackedTensor>> {
  const problem = (place: string, got: string, want: string) =>
    new ProblemError([
      { file: indexFile, place, got, want, remedy: 'Choose the whole folder, with every file its index names.' },
    ]);
  const parsed = readJson(indexFile, json);
  const fileOfTensor = isRecord(parsed) ? field(parsed, 'weight_map') : undefined;
  if (!isRecord(fileOfTensor)) throw problem('weight_map', 'none', 'a file name for each tensor');
  const tensors = new Map<string, PackedTensor>();
  for (const file of new Set(Object.values(fileOfTensor))) {
    const source = typeof file === 'string' ? sourceOf(file) : null;
    if (!source)
      throw problem(
        'weight_map',
        typeof file === 'string' ? `${file}, no such file` : 'something that isn’t a file name',
        'a file of the folder',
      );
    for (const [name, tensor] of await openSafetensors(source)) {
      if (field(fileOfTensor, name) !== file)
        throw problem(name, `this tensor in ${source.name}`, 'every tensor in the file that the index names for it');
      tensors.set(name, tensor);
    }
  }
  const missing = Object.keys(fileOfTensor).find((name) => !tensors.has(name));
  if (missing !== undefined)
    throw problem(missing, 'no such tensor in the file that the index names', 'every tensor of the index in its file');
  return tensors;
}
