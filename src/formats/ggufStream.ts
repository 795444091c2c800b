import { announced, type StreamedFile, type StreamedTensor } from './streamedFile.ts';

/** A tensor of a GGUF file, with ggml's number of its type. */
export interface GgufStreamedTensor extends StreamedTensor {
  readonly type: number;
}

const MAGIC = 'GGUF';
const VERSION = 3;
const U32 = 4; // the number of the type of whole numbers of 32 bits

/**
 * A GGUF file of version 3 (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md) whose tensors are read one after the other as it is written.
 * `keys` are keys with their values as a GGUF file has them: `u32Key` makes one, a header's `places` say where another file has its own.
 */
export function ggufStream(
  name: string,
  keys: readonly Uint8Array[],
  tensors: readonly GgufStreamedTensor[],
  alignment: number,
): StreamedFile {
  const padded = (bytes: number) => Math.ceil(bytes / alignment) * alignment;
  const header = new Bytes();
  header.add(new TextEncoder().encode(MAGIC));
  header.u32(VERSION);
  header.u64(tensors.length);
  header.u64(keys.length);
  for (const key of keys) header.add(key);
  let offset = 0;
  for (const { name, shape, type, bytes } of tensors) {
    header.text(name);
    header.u32(shape.length);
    for (const size of shape.toReversed()) header.u64(size);
    header.u32(type);
    header.u64(offset);
    offset += padded(bytes);
  }
  const head = header.joined(padded(header.length));
  const pieces = async function* () {
    yield head;
    for (const tensor of tensors) {
      yield await announced(tensor);
      yield new Uint8Array(padded(tensor.bytes) - tensor.bytes);
    }
  };
  return { name, bytes: head.length + offset, pieces };
}

/** A key whose value is a whole number of 32 bits. */
export function u32Key(name: string, value: number): Uint8Array {
  const key = new Bytes();
  key.text(name);
  key.u32(U32);
  key.u32(value);
  return key.joined(key.length);
}

/** Little-endian values one after the other. */
class Bytes {
  length = 0;
  private readonly parts: Uint8Array[] = [];
  add(bytes: Uint8Array): void {
    this.parts.push(bytes);
    this.length += bytes.length;
  }
  u32(value: number): void {
    const bytes = new Uint8Array(4);
    new DataView(bytes.buffer).setUint32(0, value, true);
    this.add(bytes);
  }
  u64(value: number): void {
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setBigUint64(0, BigInt(value), true);
    this.add(bytes);
  }
  text(value: string): void {
    const bytes = new TextEncoder().encode(value);
    this.u64(bytes.length);
    this.add(bytes);
  }
  /** All of it, followed by zeros up to `size` bytes. */
  joined(size: number): Uint8Array<ArrayBuffer> {
    const all = new Uint8Array(size);
    let at = 0;
    for (const part of this.parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  }
}
