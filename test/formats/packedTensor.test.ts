import { expect, test } from 'vitest';
import { GGML_FORMATS, SAFETENSORS_FORMATS } from '../../src/formats/blocks/blockFormats.ts';
import type { ByteSource } from '../../src/formats/byteSource.ts';
import { equalPacked, type PackedTensor, readPacked } from '../../src/formats/packedTensor.ts';
import { toFloat16 } from '../../src/formats/blocks/float16.ts';
import { refusedAt } from './refusal.ts';

const MIB = 2 ** 20;
const F32 = SAFETENSORS_FORMATS.get('F32')!;
const F16 = SAFETENSORS_FORMATS.get('F16')!;

/** A tensor that lies behind so many other bytes of a file, which may end too early; `asked` hears what is read. */
function tensorOf(
  values: Float32Array | Uint16Array,
  shape: readonly number[],
  options: { before?: number; cut?: number } = {},
) {
  // prettier-ignore
  const { before = 3, cut = 0 } = options;
  const file = new Uint8Array(before + values.byteLength - cut).fill(0xff); // no number, where other bytes are read
  file.set(new Uint8Array(values.buffer, 0, values.byteLength - cut), before);
  const asked: [number, number][] = [];
  const read: ByteSource['read'] = (begin, end) => {
    asked.push([begin, end]);
    return Promise.resolve(file.slice(begin, end));
  };
  const source = { name: 'x.gguf', size: file.length, read };
  const format = values instanceof Float32Array ? F32 : F16;
  const tensor: PackedTensor = { name: 'w', shape, format, source, begin: before, bytes: values.byteLength };
  return { tensor, asked };
}
const counting = (length: number) => Float32Array.from({ length }, (_, i) => i);
/** Each row of one number, its own. */
const byRow = (rows: number, row: number) => {
  const values = new Float32Array(rows * row);
  for (let i = 0; i < rows; i++) values.fill(i + 1, i * row, (i + 1) * row);
  return values;
};
const same = (a: Uint8Array, b: Float32Array) => Buffer.compare(a, new Uint8Array(b.buffer)) === 0;

test('a tensor is read in pieces of whole rows, at most 4 MiB, or of one row that is longer', async () => {
  const cases: readonly (readonly [rows: number, row: number, pieces: readonly number[]])[] = [
    [3, 4, [48]],
    [7, (1.5 * MIB) / 4, [3 * MIB, 3 * MIB, 3 * MIB, 1.5 * MIB]],
    [2, (5 * MIB) / 4, [5 * MIB, 5 * MIB]],
    [2, MIB, [4 * MIB, 4 * MIB]],
  ];
  for (const [rows, row, pieces] of cases) {
    const values = byRow(rows, row);
    const { tensor, asked } = tensorOf(values, [rows, row]);
    const out = new Uint8Array(tensor.bytes);
    await readPacked(tensor, out);
    expect([same(out, values), asked.map(([begin, end]) => end - begin)]).toEqual([true, pieces]);
    const turned = new Uint8Array(tensor.bytes);
    await readPacked(tensor, turned, (at) => rows - 1 - at);
    expect(same(turned, values.toReversed())).toBe(true);
  }
});

test('room of another size, a file that ends early and a number that is not finite are refused', async () => {
  const { tensor } = tensorOf(counting(8), [2, 4]);
  for (const size of [31, 33]) {
    await expect(readPacked(tensor, new Uint8Array(size))).rejects.toThrow(new RegExp(`${size} bytes, but w has 32`)); // prettier-ignore
  }
  const short = tensorOf(counting(8), [2, 4], { cut: 1 });
  expect(await refusedAt(() => readPacked(short.tensor, new Uint8Array(32)))).toBe('w: 31 bytes from byte 3 on');
  for (const at of [0, 7]) {
    const values = counting(8);
    values[at] = Infinity;
    const odd = tensorOf(values, [2, 4]).tensor;
    expect(await refusedAt(() => readPacked(odd, new Uint8Array(32)))).toBe('w: a weight that is not finite');
  }
});

test('two tensors are equal where all weights are, however they are packed, beyond the first piece too', async () => {
  const size = MIB + 3;
  const values = new Float32Array(size).fill(3);
  const [plain, half] = [tensorOf(values, [1, size]).tensor, tensorOf(toFloat16(values), [size], { before: 0 }).tensor]; // prettier-ignore
  expect(await equalPacked(plain, half)).toBe(true);
  for (const at of [0, MIB - 1, MIB, size - 1]) {
    const other = values.slice();
    other[at]! += 1;
    expect(await equalPacked(tensorOf(other, [size]).tensor, half)).toBe(false);
  }
  const { tensor, asked } = tensorOf(values, [size]);
  const first = values.slice();
  first[0] = 5;
  expect(await equalPacked(tensor, tensorOf(first, [size]).tensor)).toBe(false);
  expect(asked).toEqual([[3, 3 + 4 * MIB]]); // the rest is not read
  const cut = tensorOf(values, [size], { cut: 2 }).tensor;
  expect(await refusedAt(() => equalPacked(cut, half))).toBe(`w: 10 bytes from byte ${3 + 4 * MIB} on`);
});

test.each([...GGML_FORMATS.values()])('$name tells a number or a scale that is not finite in any block', (format) => {
  const isWide = ['F32', 'BF16'].includes(format.name); // with the exponent of a float32
  const places = isWide ? [format.blockBytes - 2] : ({ Q4_1: [0, 2], Q5_1: [0, 2], Q6_K: [208] }[format.name] ?? [0]);
  const [infinite, largest] = isWide ? [0x7f80, 0x7f7f] : [0x7c00, 0x7bff];
  /** Three blocks whose scales are 0 but one; other bits of packed weights are all set, which says nothing. */
  const blocksWith = (bits: number, block: number, place: number) => {
    const bytes = new Uint8Array(3 * format.blockBytes).fill(format.blockWeights > 1 ? 0xff : 0);
    const view = new DataView(bytes.buffer);
    for (let i = 0; i < 3; i++) for (const at of places) view.setUint16(i * format.blockBytes + at, 0, true);
    view.setUint16(block * format.blockBytes + place, bits, true);
    return bytes;
  };
  for (const block of [0, 1, 2]) {
    for (const place of places) {
      for (const sign of [0, 0x8000]) {
        expect(format.allFinite(blocksWith(infinite | sign, block, place))).toBe(false);
        expect(format.allFinite(blocksWith(infinite | sign | 1, block, place))).toBe(false); // NaN
        expect(format.allFinite(blocksWith(largest | sign, block, place))).toBe(true);
      }
    }
  }
});
