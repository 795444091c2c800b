/** A file that is made piece by piece as it is written, so that it need not fit in memory. */
export interface StreamedFile {
  readonly name: string;
  readonly bytes: number; // of all pieces together
  readonly pieces: () => AsyncIterable<Uint8Array>;
}

/** A tensor of such a file. */
export interface StreamedTensor {
  readonly name: string; // the file's
  readonly shape: readonly number[]; // slowest dimension first
  readonly bytes: number;
  /** Its bytes as the file has them, exactly so many. */
  readonly read: () => Promise<Uint8Array>;
}

/** A tensor's bytes; throws where they are not as many as were announced. */
export async function announced({ name, bytes, read }: StreamedTensor): Promise<Uint8Array> {
  const found = await read();
  if (found.length === bytes) return found;
  throw new Error(`${name}: found ${found.length} bytes, expected ${bytes}, as its header says.`);
}
