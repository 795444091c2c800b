import type { ByteSource } from '../formats/byteSource.ts';
import type { PickedFile } from '../wire/reading.ts';

/** A file that a person picked, read by slices. */
export function pickedSource({ file, path }: PickedFile): ByteSource {
  return {
    name: path,
    size: file.size,
    read: async (begin, end) => new Uint8Array(await file.slice(begin, end).arrayBuffer()),
  };
}
