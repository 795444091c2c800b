import { crcFunction } from './crc.ts';
import { ProblemError } from '../base/problem.ts';
import type { StreamedFile } from './byteSource.ts';

const SIGNATURE = { entry: 0x04034b50, descriptor: 0x08074b50, directory: 0x02014b50, end: 0x06054b50 };
const RECORD_BYTES = { entry: 30, descriptor: 16, directory: 46, end: 22 };
const VERSION = 20; // 2.0, the first with data descriptors
/** Flags: sizes and checksum come after the file (bit 3), and names are UTF-8 (bit 11). */
const DESCRIPTOR_AND_UTF8 = 0x0808;
const FILE_DATE = 0x0021; // 1 January 1980 for every file, so that the same files always give the same bytes
/** Sizes and offsets have 32 bits. */
const MAX_BYTES = 0xffffffff;

const crc32 = crcFunction(0xedb88320); // IEEE's, reversed

/**
 * A zip archive of files that are made while it is written, stored uncompressed. No file has to fit in memory, because
 * each file's checksum comes after its bytes (PKWARE's APPNOTE 6.3, data descriptors). Throws ProblemError if the
 * archive would have 4 GB or more. Its `pieces` throw if a file does not have the size that it declares.
 */
export function zipStream(name: string, files: readonly StreamedFile[]): StreamedFile {
  const entries = files.map((file) => ({ file, name: new TextEncoder().encode(file.name) }));
  const bytes = entries.reduce(
    (sum, entry) =>
      sum +
      RECORD_BYTES.entry +
      RECORD_BYTES.descriptor +
      RECORD_BYTES.directory +
      2 * entry.name.length +
      entry.file.bytes,
    RECORD_BYTES.end,
  );
  if (bytes >= MAX_BYTES) {
    const remedy = 'Write it with smaller numbers, or file by file.';
    throw new ProblemError([{ file: name, place: '', got: `${bytes} bytes`, want: `less than ${MAX_BYTES}`, remedy }]);
  }
  const pieces = async function* () {
    const directory: Uint8Array[] = [];
    let at = 0;
    for (const { file, name } of entries) {
      yield record(RECORD_BYTES.entry, [SIGNATURE.entry, 4], [VERSION, 2], [DESCRIPTOR_AND_UTF8, 2], [0, 2], [0, 2], [FILE_DATE, 2], [0, 12], [name.length, 2], [0, 2]); // prettier-ignore
      yield name;
      let [crc, size] = [0, 0];
      for await (const piece of file.pieces()) {
        crc = crc32(piece, crc);
        size += piece.length;
        yield piece;
      }
      if (size !== file.bytes) throw new Error(`${file.name}: it gave ${size} bytes, but declared ${file.bytes}.`);
      yield record(RECORD_BYTES.descriptor, [SIGNATURE.descriptor, 4], [crc, 4], [size, 4], [size, 4]);
      directory.push(
        record(RECORD_BYTES.directory, [SIGNATURE.directory, 4], [VERSION, 2], [VERSION, 2], [DESCRIPTOR_AND_UTF8, 2], [0, 2], [0, 2], [FILE_DATE, 2], [crc, 4], [size, 4], [size, 4], [name.length, 2], [0, 12], [at, 4]), // prettier-ignore
        name,
      );
      at += RECORD_BYTES.entry + name.length + size + RECORD_BYTES.descriptor;
    }
    for (const each of directory) yield each;
    const directoryBytes = directory.reduce((sum, { length: n }) => sum + n, 0);
    yield record(RECORD_BYTES.end, [SIGNATURE.end, 4], [0, 4], [entries.length, 2], [entries.length, 2], [directoryBytes, 4], [at, 4], [0, 2]); // prettier-ignore
  };
  return { name, bytes, pieces };
}

/** Writes [number, width in bytes] fields one after the other, little-endian. A field wider than four bytes stays 0. */
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
