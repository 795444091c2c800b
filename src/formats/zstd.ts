import type { SliceableFile } from './lines.ts';

const MAGIC = 0xfd2fb528;
const FIRST_SKIPPABLE = 0x184d2a50;
const MAX_BLOCK_BYTES = 128 * 1024; // a block's content, at most
export const MAX_UNPACKED_BYTES = 1024 * 2 ** 20;

/** Whether a file with these first bytes is a zstd file. */
export function isZstd({ buffer, byteOffset, length }: Uint8Array): boolean {
  return length >= 4 && new DataView(buffer, byteOffset, length).getUint32(0, true) === MAGIC;
}

/** RFC 8878, in memory. Throws an Error whose message is a sentence if it is damaged, or its content may be larger than 1 GB. */
export async function unpackedZstd(file: SliceableFile): Promise<Blob> {
  if (file.size > MAX_UNPACKED_BYTES) throw tooLarge('zstd');
  const bytes = new Uint8Array(await file.slice(0, file.size).arrayBuffer());
  if (contentBound(bytes) > MAX_UNPACKED_BYTES) throw tooLarge('zstd');
  const { decompressZstd } = await import('hyparquet-compressors');
  return new Blob([decompressZstd(bytes) as Uint8Array<ArrayBuffer>]);
}

export const tooLarge = (format: string) =>
  new Error(`${format}: its content is larger than 1 GB. Unpack it first, and open a part of it at a time`);

/** The most bytes that the blocks of a zstd file can unpack to, by their headers. The frames may claim any size. */
function contentBound(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let [at, bound] = [0, 0];
  while (at + 8 <= bytes.length) {
    const magic = view.getUint32(at, true);
    if (magic >>> 4 === FIRST_SKIPPABLE >>> 4) {
      at += 8 + view.getUint32(at + 4, true);
      continue;
    }
    if (magic !== MAGIC) throw new Error('zstd: damaged');
    const descriptor = bytes[at + 4] ?? 0;
    const [isSingle, sizeFlag] = [(descriptor & 0x20) !== 0, descriptor >> 6];
    const sizeBytes = sizeFlag === 0 ? Number(isSingle) : 1 << sizeFlag;
    at += 5 + Number(!isSingle) + ([0, 1, 2, 4][descriptor & 3] ?? 0) + sizeBytes;
    for (let isLast = false; !isLast;) {
      if (at + 3 > bytes.length) throw new Error('zstd: the file is cut off');
      const header = view.getUint16(at, true) | ((bytes[at + 2] ?? 0) << 16);
      const [kind, size] = [(header >> 1) & 3, header >>> 3];
      isLast = (header & 1) === 1;
      bound += kind === 2 ? MAX_BLOCK_BYTES : size;
      at += 3 + (kind === 1 ? 1 : size); // a block of kind 1 is one byte, repeated
    }
    at += (descriptor & 4) === 0 ? 0 : 4; // a checksum
  }
  return bound;
}
