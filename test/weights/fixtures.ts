import { readFileSync } from 'node:fs';
import path from 'node:path';
import { bytesInMemory, type ByteSource } from '../../src/formats/byteSource.ts';
import {
  openFolderCheckpoint,
  openGgufCheckpoint,
  type OpenedCheckpoint,
} from '../../src/checkpoints/openCheckpoint.ts';

/** What test/python/write_weight_fixtures.py wrote of its checkpoints, in float64 by PyTorch, and of blocks, by `gguf`. */
interface Expected {
  readonly tokens: readonly number[];
  readonly logits: Readonly<Record<string, readonly (readonly number[])[]>>; // (n, V)
  readonly blocks: Readonly<Record<string, { readonly bytes: string; readonly values: string }>>; // base64
}

const HERE = import.meta.dirname;
export const expected = JSON.parse(readFileSync(path.join(HERE, 'expected.json'), 'utf8')) as Expected;
export const MODELS = ['llama3', 'qwen2', 'qwen3', 'small.gguf'] as const;

/** A file of the fixtures. */
export const fixture = (name: string): Uint8Array => new Uint8Array(readFileSync(path.join(HERE, name)));

/** The files of a folder of the fixtures, some of them replaced. */
export const folderOf =
  (folder: string, replaced: Readonly<Record<string, Uint8Array>> = {}) =>
  (name: string): ByteSource | null => {
    if (replaced[name]) return bytesInMemory(name, replaced[name]);
    try {
      return bytesInMemory(name, fixture(path.join(folder, name)));
    } catch {
      return null;
    }
  };

/** A checkpoint of the fixtures. */
export function opened(name: string): Promise<OpenedCheckpoint> {
  return name.endsWith('.gguf')
    ? openGgufCheckpoint(bytesInMemory(name, fixture(name)))
    : openFolderCheckpoint(folderOf(name));
}
