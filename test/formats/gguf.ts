import type { GgufValue } from '../../src/formats/ggufHeader.ts';

/** A value with the number of its type, as a GGUF header has it; `list` says the type of a list's elements. */
export interface Typed {
  readonly type: number;
  readonly value: GgufValue;
  readonly list?: number;
}

export const text = (value: string): Typed => ({ type: 8, value });
export const u32 = (value: number): Typed => ({ type: 4, value });
export const texts = (value: readonly string[]): Typed => ({ type: 9, value, list: 8 });
export const i32s = (value: readonly number[]): Typed => ({ type: 9, value, list: 5 });

interface Tensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly type: number;
  readonly offset: number;
}

/** A GGUF file of version 3 with these keys and tensors, and `data` bytes of zeros. */
export function ggufFile(keys: Readonly<Record<string, Typed>>, tensors: readonly Tensor[] = [], data = 0): Uint8Array {
  const writer = new Writer();
  writer.raw(new TextEncoder().encode('GGUF'));
  writer.value(4, 3);
  writer.value(10, tensors.length);
  writer.value(10, Object.keys(keys).length);
  for (const [key, { type, value, list }] of Object.entries(keys)) {
    writer.value(8, key);
    writer.value(4, type);
    if (type === 9 && Array.isArray(value)) {
      writer.value(4, list ?? 0);
      writer.value(10, value.length);
      for (const element of value as readonly GgufValue[]) writer.value(list ?? 0, element);
    } else writer.value(type, value);
  }
  for (const { name, shape, type, offset } of tensors) {
    writer.value(8, name);
    writer.value(4, shape.length);
    for (const size of shape) writer.value(10, size);
    writer.value(4, type);
    writer.value(10, offset);
  }
  const end = Math.ceil(writer.bytes.length / 32) * 32;
  writer.raw(new Array<number>(end - writer.bytes.length + data).fill(0));
  return Uint8Array.from(writer.bytes);
}

class Writer {
  readonly bytes: number[] = [];
  raw(bytes: Iterable<number>): void {
    for (const byte of bytes) this.bytes.push(byte);
  }
  value(type: number, value: GgufValue): void {
    if (type === 8) {
      const letters = new TextEncoder().encode(String(value));
      this.value(10, letters.length);
      this.raw(letters);
      return;
    }
    const view = new DataView(new ArrayBuffer(8));
    const number = Number(value);
    const whole = () => (typeof value === 'bigint' ? value : BigInt(number));
    const set: Readonly<Record<number, readonly [number, () => void]>> = {
      0: [1, () => view.setUint8(0, number)],
      1: [1, () => view.setInt8(0, number)],
      2: [2, () => view.setUint16(0, number, true)],
      3: [2, () => view.setInt16(0, number, true)],
      4: [4, () => view.setUint32(0, number, true)],
      5: [4, () => view.setInt32(0, number, true)],
      6: [4, () => view.setFloat32(0, number, true)],
      7: [1, () => view.setUint8(0, number)],
      10: [8, () => view.setBigUint64(0, whole(), true)],
      11: [8, () => view.setBigInt64(0, whole(), true)],
      12: [8, () => view.setFloat64(0, number, true)],
    };
    const [width = 0, write] = set[type] ?? [];
    write?.();
    this.raw(new Uint8Array(view.buffer).subarray(0, width));
  }
}
