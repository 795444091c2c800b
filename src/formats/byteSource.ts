/** A file that is read by slices: a dropped file, an HTTP address, a file on disk. */
export interface ByteSource {
  readonly name: string; // for messages
  readonly size: number; // bytes
  /** Bytes `begin` to `end` (not included), both inside the file; exactly that many. */
  readonly read: (begin: number, end: number) => Promise<Uint8Array>;
}

/** Bytes that are at hand, as a source. */
export function bytesInMemory(name: string, bytes: Uint8Array): ByteSource {
  return { name, size: bytes.length, read: (begin, end) => Promise.resolve(bytes.subarray(begin, end)) };
}

/** A file that a person picked, as a source. */
export function blobSource(name: string, file: Blob): ByteSource {
  const read = async (begin: number, end: number) => new Uint8Array(await file.slice(begin, end).arrayBuffer());
  return { name, size: file.size, read };
}
