import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bytesInMemory } from '../../src/formats/byteSource.ts';
import { decodeGgufHeader, readGgufHeader } from '../../src/formats/ggufHeader.ts';
import { damage, damaged } from '../damage.ts';
import { ggufFile, i32s, text, texts, type Typed, u32 } from './gguf.ts';
import { firstProblem } from './refusal.ts';

const KEYS: Readonly<Record<string, Typed>> = {
  'general.architecture': text('llama'),
  'llama.block_count': u32(2),
  'llama.rope.freq_base': { type: 6, value: 10000 },
  'small.u8': { type: 0, value: 250 },
  'small.i8': { type: 1, value: -3 },
  'small.u16': { type: 2, value: 65_000 },
  'small.i16': { type: 3, value: -300 },
  'small.i32': { type: 5, value: -70_000 },
  'long.u64': { type: 10, value: 2n ** 63n },
  'long.i64': { type: 11, value: -5 },
  'long.f64': { type: 12, value: 0.1 },
  'tokenizer.ggml.add_bos_token': { type: 7, value: true },
  'tokenizer.ggml.tokens': texts(['a', 'Ġ', 'ü', '']),
  'tokenizer.ggml.token_type': i32s([1, 3, 1, 1]),
};
const TENSORS = [
  { name: 'token_embd.weight', shape: [4, 8], type: 0, offset: 0 },
  { name: 'output_norm.weight', shape: [4], type: 0, offset: 128 },
];
const FILE = ggufFile(KEYS, TENSORS, 160);

test('a header is read with every type of value, its tensors and where their bytes begin', () => {
  const header = decodeGgufHeader('tiny.gguf', FILE);
  expect(Object.fromEntries(header.metadata)).toEqual(
    Object.fromEntries(Object.entries(KEYS).map(([key, { value }]) => [key, value])),
  );
  expect([...header.tensors.values()]).toEqual(TENSORS);
  expect(header).toMatchObject({ version: 3, alignment: 32, dataStart: FILE.length - 160, size: FILE.length });
});

test('a header longer than one slice is read by more of them, and no more than it needs of the file', async () => {
  const words = Array.from({ length: 70_000 }, (_, i) => `word ${i}`);
  const bytes = ggufFile({ 'tokenizer.ggml.tokens': texts(words) }, TENSORS, 160);
  const asked: number[] = [];
  const source = {
    ...bytesInMemory('long.gguf', bytes),
    read: (begin: number, end: number) => {
      asked.push(end);
      return Promise.resolve(bytes.slice(begin, end));
    },
  };
  const header = await readGgufHeader(source);
  expect(header.metadata.get('tokenizer.ggml.tokens')).toEqual(words);
  expect(asked).toEqual([1 << 20, bytes.length]);
});

const changed = (change: (bytes: Uint8Array) => void) => {
  const bytes = FILE.slice();
  change(bytes);
  return bytes;
};
const set = (at: number, ...values: number[]) => changed((bytes) => bytes.set(values, at));
const huge = [255, 255, 255, 255, 255, 255, 255, 127];

test.each([
  ['another byte order', set(4, 0, 0, 0, 3), 'version', 'version 3, big-endian'],
  ['countless tensors', set(8, ...huge), 'tensor count', '9223372036854775807'],
  ['a key of countless letters', set(24, ...huge), 'key 0 of 14', 'a text of 9223372036854775807 bytes'],
  ['an alignment of 12', ggufFile({ 'general.alignment': u32(12) }), 'general.alignment', '12'],
  [
    'a tensor twice',
    ggufFile({}, [TENSORS[0]!, TENSORS[0]!], 160),
    'tensor 1 of 2',
    'the tensor token_embd.weight twice',
  ],
  [
    'a tensor past the end',
    ggufFile({}, [{ ...TENSORS[0]!, offset: 320 }], 160),
    'token_embd.weight',
    'as its first in a file of',
  ],
  [
    'a tensor of more numbers than there are',
    ggufFile({}, [{ ...TENSORS[0]!, shape: [2 ** 40, 2 ** 40] }], 160),
    'token_embd.weight',
    'the shape',
  ],
])('a GGUF file with %s is refused with the place', (_, bytes, place, got) => {
  const problem = refusal(bytes);
  expect(problem?.place).toBe(place);
  expect(problem?.got).toContain(got);
});

test('a key that comes twice is refused', () => {
  const bytes = ggufFile({ 'a.x': u32(1), 'a.y': u32(2) });
  bytes[bytes.indexOf('y'.charCodeAt(0))] = 'x'.charCodeAt(0);
  expect(refusal(bytes)).toMatchObject({ place: 'key 1 of 2', got: 'the key a.x twice' });
});

test('a header cut off at any byte is refused as one that was cut off', () => {
  const { dataStart } = decodeGgufHeader('tiny.gguf', FILE);
  for (let length = 0; length < dataStart; length++) {
    const problem = refusal(FILE.subarray(0, length));
    expect(`${problem?.got} ${problem?.want}`, `${length} bytes`).toMatch(/the end of the file|may have been cut off/);
  }
});

test('of 2,000 headers with a few bytes changed, each is read or refused with file, place, got and want', () => {
  let refused = 0;
  const { dataStart } = decodeGgufHeader('tiny.gguf', FILE);
  const judge = fc.property(damage(FILE, ['put'], dataStart), (what) => {
    const problem = refusal(damaged(FILE, what));
    if (!problem) return;
    refused++;
    expect(problem.file).toBe('tiny.gguf');
    for (const said of [problem.place, problem.got, problem.want, problem.remedy]) expect(said).not.toBe('');
  });
  fc.assert(judge, { seed: 20261123, numRuns: 2000 });
  expect(refused).toBeGreaterThan(800); // the rest changed letters and numbers that may be anything
});

/** What the reader said of these bytes; null where it took them. */
const refusal = (bytes: Uint8Array) => firstProblem(() => decodeGgufHeader('tiny.gguf', bytes));
