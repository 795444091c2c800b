import { closeSync, openSync, readSync, statSync } from 'node:fs';
import path from 'node:path';
import type { ByteSource } from '../formats/byteSource.ts';
import { fileError } from './files.ts';
import { ProblemError } from '../base/problem.ts';

/** Opened anew for each slice; null if it doesn't exist. Throws ProblemError if it isn't a file. Reading rejects with ProblemError. */
export function diskSource(file: string): ByteSource | null {
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found) return null;
  if (!found.isFile()) throw new ProblemError(`${file} cannot be read: it isn’t a file. Name a file.`);
  const read = (begin: number, end: number): Promise<Uint8Array> => {
    try {
      const bytes = new Uint8Array(end - begin);
      const descriptor = openSync(file, 'r');
      try {
        return Promise.resolve(bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, begin)));
      } finally {
        closeSync(descriptor);
      }
    } catch (error) {
      return Promise.reject(fileError(file, 'read', error));
    }
  };
  return { name: path.basename(file), size: found.size, read };
}
