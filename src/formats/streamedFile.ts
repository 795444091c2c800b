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
