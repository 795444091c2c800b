import { crc32 } from './crc.ts';
import type { SliceableFile } from './lines.ts';
import { isZstd, MAX_UNPACKED_BYTES, tooLarge, unpackedZstd } from './zstd.ts';

const HEAD_BYTES = 4;
const TRAILER_BYTES = 8; // checksum and size
const SLICE_BYTES = 2 ** 20;

/** Whether a file with these first bytes is compressed by zstd or gzip. */
export function isCompressed(head: Uint8Array): boolean {
  return isZstd(head) || isGzip(head);
}

function isGzip(head: Uint8Array): boolean {
  return head[0] === 0x1f && head[1] === 0x8b;
}

/** The content of a file that zstd or gzip compressed; any other file as it is. Throws an Error with a sentence if it is damaged, or larger than 1 GB (gzip: than `limit` bytes). */
export async function unpacked<F extends SliceableFile>(file: F, limit = MAX_UNPACKED_BYTES): Promise<F | Blob> {
  const head = new Uint8Array(await file.slice(0, Math.min(file.size, HEAD_BYTES)).arrayBuffer());
  if (isZstd(head)) return unpackedZstd(file);
  return isGzip(head) ? unpackedGzip(file, { limit }) : file;
}

/** The first bytes of a file's content, for telling what it is. Empty if it is damaged, or compressed by zstd. */
export async function contentHead(file: Blob, bytes: number): Promise<Blob> {
  const head = new Uint8Array(await file.slice(0, HEAD_BYTES).arrayBuffer());
  if (isZstd(head)) return new Blob();
  return isGzip(head)
    ? (await unpackedGzip(file, { enough: bytes }).catch(() => new Blob())).slice(0, bytes)
    : file.slice(0, bytes);
}

/** RFC 1952, slice by slice; of several members the last one's checksum is compared. Ends early once it has `enough` bytes. */
async function unpackedGzip(file: SliceableFile, { enough = Infinity, limit = MAX_UNPACKED_BYTES }): Promise<Blob> {
  const { Gunzip } = await import('fflate');
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let [size, checksum] = [0, 0];
  const gunzip = new Gunzip((part) => {
    size += part.length;
    if (size > limit) throw tooLarge('gzip');
    parts.push(part.slice());
    checksum = crc32(part, checksum);
  });
  gunzip.onmember = () => (checksum = 0);
  let end = new Uint8Array();
  for (let at = 0; at < file.size && size < enough; at += SLICE_BYTES) {
    const slice = new Uint8Array(await file.slice(at, Math.min(file.size, at + SLICE_BYTES)).arrayBuffer());
    end = new Uint8Array([...end, ...slice.subarray(-TRAILER_BYTES)]).slice(-TRAILER_BYTES);
    gunzip.push(slice, at + SLICE_BYTES >= file.size && enough === Infinity);
  }
  const isWhole = end.length === TRAILER_BYTES && new DataView(end.buffer).getUint32(0, true) === checksum;
  if (enough === Infinity && !isWhole) throw new Error('gzip: the file is cut off or damaged');
  return new Blob(parts);
}
