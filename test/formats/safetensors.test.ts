import { expect, test } from 'vitest';
import { bytesInMemory, type ByteSource } from '../../src/formats/byteSource.ts';
import {
  tensorsOffset,
  decodeSafetensors,
  encodeSafetensors,
  type Float16Tensor,
  type SafeTensor,
  safetensorsHeader,
} from '../../src/formats/safetensors.ts';
import { openSafetensors, openShards } from '../../src/formats/safetensorsSlices.ts';
import { refusedAt } from './refusal.ts';

/** A file of this header, which need not be right, and so many bytes of numbers. */
function tensorsFile(header: unknown, numbers = 0): Uint8Array {
  const json = new TextEncoder().encode(JSON.stringify(header));
  const file = new Uint8Array(8 + json.length + numbers);
  new DataView(file.buffer).setBigUint64(0, BigInt(json.length), true);
  file.set(json, 8);
  return file;
}
const entry = (begin: number, end: number, dtype: unknown = 'F32', shape: unknown = [(end - begin) / 4]) => ({
  dtype,
  shape,
  data_offsets: [begin, end],
});

test('numbers of each kind come back as they were written, with shapes, types and metadata', () => {
  const tensors = new Map<string, SafeTensor>([
    ['f', { shape: [2, 2], values: Float32Array.of(1, -2.5, 0, 3e38) }],
    ['none', { shape: [0, 4], values: new Float32Array() }],
    ['i', { shape: [3], values: Int32Array.of(-(2 ** 31), 0, 2 ** 31 - 1) }],
    ['u', { shape: [], values: Uint8Array.of(255) }],
  ]);
  const half: Float16Tensor = { shape: [1], values: Uint16Array.of(0x3c00) };
  const bytes = encodeSafetensors(new Map<string, SafeTensor | Float16Tensor>([...tensors, ['h', half]]), { format: 'pt', n: '1' }); // prettier-ignore
  const read = decodeSafetensors(bytes);
  expect(new Map(read.tensors)).toEqual(
    new Map<string, SafeTensor>([...tensors, ['h', { shape: [1], values: Float32Array.of(1) }]]),
  );
  expect([...read.dtypes.values()]).toEqual(['F32', 'F32', 'I32', 'U8', 'F16']);
  expect(read.metadata).toEqual({ format: 'pt', n: '1' });
  // the same bytes in the middle of others
  const within = new Uint8Array([9, 9, 9, ...new Uint8Array(bytes), 9]).subarray(3, 3 + bytes.byteLength);
  expect(decodeSafetensors(within)).toEqual(read);
  expect(decodeSafetensors(encodeSafetensors(new Map()))).toMatchObject({ metadata: {}, tensors: new Map() });
});

test('a header is JSON padded with spaces to eights, and a tensor whose numbers are not as many as its shape says is not written', () => {
  for (const name of ['a', 'ab', 'abc', 'abcd', 'abcde', 'abcdef', 'abcdefg', 'abcdefgh']) {
    const header = safetensorsHeader([{ name, dtype: 'F32', shape: [1], bytes: 4 }]);
    const length = Number(new DataView(header.buffer).getBigUint64(0, true));
    expect([header.length - 8, length % 8]).toEqual([length, 0]);
    const text = new TextDecoder().decode(header.subarray(8));
    expect(text).toMatch(/^\{.*\} {0,7}$/);
    expect(JSON.parse(text)).toEqual({ [name]: entry(0, 4) });
  }
  const wrong = new Map([['w', { shape: [2, 3], values: new Float32Array(5) }]]);
  expect(() => encodeSafetensors(wrong)).toThrow(/w has 5 numbers, and its shape needs 6 = \[2,3\]/);
});

test.each<readonly [Uint8Array, string]>([
  [new Uint8Array(), ': 0 bytes'],
  [tensorsFile({}).fill(40, 0, 1), ': a header of 40 bytes in a file of 10'],
  [tensorsFile([]), ': a header that is not an object'],
  [tensorsFile({ a: { ...entry(0, 4), shape: [2 ** 53] } }, 4), 'a: a without a shape and two offsets'],
  [tensorsFile({ a: entry(0, 8, 'toString') }, 8), 'a: a of type toString'],
  ...[[4], [2]].map((shape) => [tensorsFile({ a: entry(0, 12, 'F32', shape) }, 12), `a: a [${shape[0]}] at bytes 0 to 12`] as const), // prettier-ignore
  [tensorsFile({ a: entry(0, 4) }, 5), ': 1 bytes after the last tensor'],
  [tensorsFile({ a: entry(0, 4) }, 3), 'a: a [1] at bytes 0 to 4 of 3'],
  [tensorsFile({ a: entry(4, 8) }, 8), 'a: a hole: a begins at byte 4'],
  [tensorsFile({ a: entry(0, 8), b: entry(7, 11) }, 11), 'b: an overlap: b begins at byte 7'],
])('%# the first thing wrong in a file is named', async (file, found) => {
  expect(await refusedAt(() => decodeSafetensors(file, 'x.safetensors'))).toBe(found);
});

test('long integers are read where 32 bits hold them, and metadata as texts', async () => {
  const longs = (value: bigint) => {
    const file = tensorsFile({ __metadata__: { a: 1, b: null }, n: entry(0, 8, 'I64', [1]) }, 8);
    new DataView(file.buffer).setBigInt64(file.length - 8, value, true);
    return file;
  };
  for (const value of [2n ** 31n - 1n, -(2n ** 31n), 0n]) {
    const { tensors, metadata } = decodeSafetensors(longs(value));
    expect([tensors.get('n')?.values[0], metadata]).toEqual([Number(value), { a: '1', b: 'null' }]);
  }
  for (const value of [2n ** 31n, -(2n ** 31n) - 1n]) {
    expect(await refusedAt(() => decodeSafetensors(longs(value)))).toBe(`n: n with the number ${value}`);
  }
});

test('an empty tensor may lie where another begins, in whatever order they are named', () => {
  const file = tensorsFile({ full: entry(0, 4), empty: entry(0, 0), last: entry(4, 4) }, 4);
  expect([...decodeSafetensors(file).tensors.keys()]).toEqual(['full', 'empty', 'last']);
});

test('a header of 16 MiB is the longest', async () => {
  const first = (length: number) => {
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setBigUint64(0, BigInt(length), true);
    return bytes;
  };
  expect(tensorsOffset('x', first(2 ** 24), 2 ** 24 + 8)).toBe(2 ** 24 + 8);
  expect(await refusedAt(() => tensorsOffset('x', first(2 ** 24 + 1), 2 ** 30))).toMatch(
    /^: a header of 16777217 bytes/,
  );
  expect(await refusedAt(() => tensorsOffset('x', first(9), 16))).toBe(': a header of 9 bytes in a file of 16');
});

const FILE = new Uint8Array(encodeSafetensors(new Map([['w', { shape: [1, 2], values: Float32Array.of(1, 2) }]])));

test('of a file that is read by slices only the header is read, and each tensor’s place is known', async () => {
  const asked: number[] = [];
  const source: ByteSource = {
    ...bytesInMemory('w.safetensors', FILE),
    read: (begin, end) => (asked.push(end), Promise.resolve(FILE.subarray(begin, end))),
  };
  const tensors = await openSafetensors(source);
  const place = { name: 'w', shape: [1, 2], begin: FILE.length - 8, bytes: 8, source };
  expect([...tensors.values()]).toEqual([expect.objectContaining(place)]);
  expect([tensors.get('w')?.format.name, asked]).toEqual(['F32', [8, FILE.length - 8]]);
  const whole = new Uint8Array(encodeSafetensors(new Map([['i', { shape: [1], values: Int32Array.of(1) }]])));
  expect(await refusedAt(() => openSafetensors(bytesInMemory('i.safetensors', whole)))).toBe('i: type I32');
  expect(await refusedAt(() => openSafetensors(bytesInMemory('x', FILE.subarray(0, 3))))).toBe(': 3 bytes');
});

test.each<readonly [unknown, string]>([
  [{}, 'weight_map: none'],
  [[], 'weight_map: none'],
  [{ weight_map: { w: 'other.safetensors' } }, 'weight_map: other.safetensors, no such file'],
  [{ weight_map: { w: 3 } }, 'weight_map: something that isn’t a file name'],
  [{ weight_map: { v: 'w.safetensors' } }, 'w: this tensor in w.safetensors'],
  [{ weight_map: { w: 'w.safetensors', v: 'w.safetensors' } }, 'v: no such tensor in the file that the index names'],
])('an index %j of shards is refused: %s', async (index, found) => {
  const json = new TextEncoder().encode(JSON.stringify(index));
  const sourceOf = (name: string) => (name === 'w.safetensors' ? bytesInMemory(name, FILE) : null);
  expect(await refusedAt(() => openShards('index.json', json, sourceOf))).toBe(found);
});

test('shards give all tensors of all their files', async () => {
  const other = new Uint8Array(encodeSafetensors(new Map([['v', { shape: [1], values: Float32Array.of(7) }]])));
  const files = new Map([['w', FILE], ['v', other]]); // prettier-ignore
  const json = new TextEncoder().encode('{"weight_map":{"v":"v","w":"w"}}');
  const sourceOf = (name: string) => bytesInMemory(name, files.get(name) ?? new Uint8Array());
  expect([...(await openShards('index.json', json, sourceOf)).keys()]).toEqual(['v', 'w']);
});
