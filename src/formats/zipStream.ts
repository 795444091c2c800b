import { crcBy } from './crc.ts';
import { ProblemError } from '../base/problem.ts';
import type { StreamedFile } from './streamedFile.ts';

const SIGNATURE = { entry: 0x04034b50, descriptor: 0x08074b50, directory: 0x02014b50, end: 0x06054b50 };
const SIZE = { entry: 30, descriptor: 16, directory: 46, end: 22 };
const VERSION = 20; // 2.0: descriptors
/** Sizes and checksum stand behind the file (bit 3), and names are UTF-8 (bit 11). */
const FLAGS = 0x0808;
const DAY_1 = 0x0021; // the first day of 1980: the same files always make the same bytes
/** Sizes and places have 32 bits. */
const MOST_BYTES = 0xffffffff;

const crc32 = crcBy(0xedb88320); // IEEE's, reversed

/**
 * A zip archive of files that are made as it is written, stored as they are: no file need fit in memory, for its checksum follows it (PKWARE's APPNOTE 6.3, data descriptors).
 * Throws ProblemError where it would be 4 GB or more; its pieces throw where a file is not as long as it says.
 */
export function zipStream(name: string, files: readonly StreamedFile[]): StreamedFile {
  const entries = files.map((file) => ({ file, name: new TextEncoder().encode(file.name) }));
  const bytes = entries.reduce(
    (sum, entry) => sum + SIZE.entry + SIZE.descriptor + SIZE.directory + 2 * entry.name.length + entry.file.bytes,
    SIZE.end,
  );
  if (bytes >= MOST_BYTES) {
    const remedy = 'Write it with smaller numbers, or file by file.';
    throw new ProblemError([{ file: name, place: '', got: `${bytes} bytes`, want: `less than ${MOST_BYTES}`, remedy }]);
  }
  const pieces = async function* () {
    const directory: Uint8Array[] = [];
    let at = 0;
    for (const { file, name } of entries) {
      yield record(SIZE.entry, [SIGNATURE.entry, 4], [VERSION, 2], [FLAGS, 2], [0, 2], [0, 2], [DAY_1, 2], [0, 12], [name.length, 2], [0, 2]); // prettier-ignore
      yield name;
      let [crc, size] = [0, 0];
      for await (const piece of file.pieces()) {
        crc = crc32(piece, crc);
        size += piece.length;
        yield piece;
      }
      if (size !== file.bytes) throw new Error(`${file.name}: it gave ${size} bytes, and announced ${file.bytes}.`);
      yield record(SIZE.descriptor, [SIGNATURE.descriptor, 4], [crc, 4], [size, 4], [size, 4]);
      directory.push(
        record(SIZE.directory, [SIGNATURE.directory, 4], [VERSION, 2], [VERSION, 2], [FLAGS, 2], [0, 2], [0, 2], [DAY_1, 2], [crc, 4], [size, 4], [size, 4], [name.length, 2], [0, 12], [at, 4]), // prettier-ignore
        name,
      );
      at += SIZE.entry + name.length + size + SIZE.descriptor;
    }
    for (const each of directory) yield each;
    const length = directory.reduce((sum, { length: n }) => sum + n, 0);
    yield record(SIZE.end, [SIGNATURE.end, 4], [0, 4], [entries.length, 2], [entries.length, 2], [length, 4], [at, 4], [0, 2]); // prettier-ignore
  };
  return { name, bytes, pieces };
}

/** Numbers of so many bytes each, little-endian, side by side; those of more than four are 0. */
function record(size: number, ...fields: readonly (readonly [number, number])[]): Uint8Array {
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const [value, width] of fields) {
    if (width === 2) view.setUint16(at, value, true);
    if (width === 4) view.setUint32(at, value, true);
    at += width;
  }
  return bytes;
}
