import { crc32 } from './crc.ts';
import type { SliceableFile } from './lines.ts';
import { isZstd, unpackedZstd } from './zstd.ts';

const HEAD_BYTES = 4;
const TRAILER_BYTES = 8; // checksum and size
const SLICE_BYTES = 2 ** 20;
const MAX_UNPACKED_BYTES = 2 ** 30;

/** Whether a file with these first bytes is compressed by zstd or gzip. */
export function isCompressed(head: Uint8Array): boolean {
  return isZstd(head) || isGzip(head);
}

function isGzip(head: Uint8Array): boolean {
  return head[0] === 0x1f && head[1] === 0x8b;
}

/** The content of a file that zstd or gzip compressed; any other file as it is. Throws an Error with a sentence if it is damaged, or larger than 1 GB. */
export async function unpacked<F extends SliceableFile>(file: F): Promise<F | Blob> {
  const head = new Uint8Array(await file.slice(0, Math.min(file.size, HEAD_BYTES)).arrayBuffer());
  if (isZstd(head)) return unpackedZstd(file);
  return isGzip(head) ? unpackedGzip(file) : file;
}

/** The first bytes of a file's content, for telling what it is. Empty if it is damaged, or compressed by zstd. */
export async function contentHead(file: Blob, bytes: number): Promise<Blob> {
  const head = new Uint8Array(await file.slice(0, HEAD_BYTES).arrayBuffer());
  if (isZstd(head)) return new Blob();
  return isGzip(head)
    ? (await unpackedGzip(file, bytes).catch(() => new Blob())).slice(0, bytes)
    : file.slice(0, bytes);
}

/** RFC 1952, slice by slice; of several members the last one's checksum is compared. Ends early once it has `enough` bytes. */
async function unpackedGzip(file: SliceableFile, enough = Infinity): Promise<Blob> {
  const { Gunzip } = await import('fflate');
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let [size, checksum] = [0, 0];
  const gunzip = new Gunzip((part) => {
    size += part.length;
    if (size > MAX_UNPACKED_BYTES)
      throw new Error('gzip: its content is larger than 1 GB. Unpack it first, and open a part of it at a time');
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
