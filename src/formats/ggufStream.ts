import { checkedBytes, type StreamedFile, type StreamedTensor } from './byteSource.ts';

/** A tensor of a GGUF file, with ggml's number of its type. */
export interface GgufStreamedTensor extends StreamedTensor {
  readonly type: number;
}

const MAGIC = 'GGUF';
const VERSION = 3;
const U32_TYPE = 4; // GGUF's number of the value type uint32

/**
 * A GGUF file of version 3 (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md). Its tensors are read one after
 * the other while it is written. Each of `keys` is a key with its value, in the bytes of the format. `u32Key` makes
 * one; to copy one from another GGUF file, read the bytes that its header's `keyRanges` give.
 */
export function ggufStream(
  name: string,
  keys: readonly Uint8Array[],
  tensors: readonly GgufStreamedTensor[],
  alignment: number,
): StreamedFile {
  const paddedSize = (bytes: number) => Math.ceil(bytes / alignment) * alignment;
  const header = new LittleEndianWriter();
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
    offset += paddedSize(bytes);
  }
  const headerBytes = header.joined(paddedSize(header.length));
  const pieces = async function* () {
    yield headerBytes;
    for (const tensor of tensors) {
      yield await checkedBytes(tensor);
      yield new Uint8Array(paddedSize(tensor.bytes) - tensor.bytes);
    }
  };
  return { name, bytes: headerBytes.length + offset, pieces };
}

export function u32Key(name: string, value: number): Uint8Array {
  const key = new LittleEndianWriter();
  key.text(name);
  key.u32(U32_TYPE);
  key.u32(value);
  return key.joined(key.length);
}

class LittleEndianWriter {
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
  /** All collected bytes, followed by zeros up to `size` bytes. */
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
