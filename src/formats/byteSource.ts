/** A file that is read in slices, such as a dropped file, an HTTP address or a file on disk. */
export interface ByteSource {
  readonly name: string; // for messages
  readonly size: number; // bytes
  /** Reads exactly the bytes `begin` to `end` (exclusive). The range must lie inside the file. */
  readonly read: (begin: number, end: number) => Promise<Uint8Array>;
}

export function bytesInMemory(name: string, bytes: Uint8Array): ByteSource {
  return { name, size: bytes.length, read: (begin, end) => Promise.resolve(bytes.subarray(begin, end)) };
}

export function blobSource(name: string, file: Blob): ByteSource {
  const read = async (begin: number, end: number) => new Uint8Array(await file.slice(begin, end).arrayBuffer());
  return { name, size: file.size, read };
}
