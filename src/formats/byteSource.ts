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

/** A file that is made piece by piece while it is written, so that it does not have to fit in memory. */
export interface StreamedFile {
  readonly name: string;
  readonly bytes: number; // total of all pieces
  readonly pieces: () => AsyncIterable<Uint8Array>;
}

export interface StreamedTensor {
  readonly name: string; // in the file
  readonly shape: readonly number[]; // slowest dimension first
  readonly bytes: number;
  /** Reads its bytes as they go into the file, exactly `bytes` of them. */
  readonly read: () => Promise<Uint8Array>;
}

/** Reads a tensor's bytes. Throws if their number is not `bytes`. */
export async function checkedBytes({ name, bytes, read }: StreamedTensor): Promise<Uint8Array> {
  const content = await read();
  if (content.length === bytes) return content;
  throw new Error(`${name}: found ${content.length} bytes, but its header says ${bytes}.`);
}
