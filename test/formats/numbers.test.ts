import { expect, test } from 'vitest';
import { float16At, toFloat16 } from '../../src/formats/blocks/float16.ts';
import { valueText } from '../../src/base/jsonRecord.ts';
import { jsonText, readJson } from '../../src/formats/jsonFile.ts';
import { linesOf } from '../../src/formats/lines.ts';

const bitsOf = (...values: readonly number[]) => [...toFloat16(Float32Array.from(values))];
const ofBits = (bits: number) => float16At(Uint8Array.of(bits & 255, bits >> 8), 0);

test('each of the 65,536 halves is the number IEEE 754 says, and comes back to its bits', () => {
  const values = Float32Array.from({ length: 65_536 }, (_, bits) => ofBits(bits));
  const back = toFloat16(values);
  const [wrong, rising] = [[] as number[], [] as number[]];
  for (let bits = 0; bits < 65_536; bits++) {
    const isNumber = (bits & 0x7fff) <= 0x7c00;
    if (isNumber ? back[bits] !== bits : !Number.isNaN(values[bits]!)) wrong.push(bits);
    if (bits > 0 && bits <= 0x7c00 && !(values[bits]! > values[bits - 1]!)) rising.push(bits);
  }
  expect([wrong, rising]).toEqual([[], []]);
  expect([0x3c00, 0xc000, 0x0001, 0x0400, 0x7bff, 0x7c00].map(ofBits)).toEqual([
    1,
    -2,
    2 ** -24,
    2 ** -14,
    65504,
    Infinity,
  ]);
  expect(float16At(Uint8Array.of(9, 9, 0, 0x3c), 2)).toBe(1);
});

test('between two halves the nearer is taken, in the middle the even one, and beyond the largest infinity', () => {
  const wrong: number[] = [];
  for (let low = 0; low < 0x7bff; low++) {
    const [a, b] = [ofBits(low), ofBits(low + 1)];
    const middle = (a + b) / 2; // exact in float32, as are its neighbours
    const even = low % 2 === 0 ? low : low + 1;
    const near = bitsOf(middle, -middle, middle - (b - a) / 8, middle + (b - a) / 8);
    const wanted = [even, even | 0x8000, low, low + 1];
    if (near.some((bits, i) => bits !== wanted[i])) wrong.push(low);
  }
  expect(wrong).toEqual([]);
  expect(bitsOf(65519.996, 65520, -65520, 1e30, Infinity, -Infinity)).toEqual([
    0x7bff, 0x7c00, 0xfc00, 0x7c00, 0x7c00, 0xfc00,
  ]);
  expect(bitsOf(0, -0, 2 ** -26, 2 ** -25, 2 ** -25 * 1.001)).toEqual([0, 0x8000, 0, 0, 1]);
  expect(bitsOf(NaN).map((bits) => (bits & 0x7fff) > 0x7c00)).toEqual([true]);
});

test('JSON is written to read back to the same numbers, −0 too', () => {
  const value = { a: [-0, 0, 0.1, -1e300], b: { c: -0 }, text: '-0' };
  const back = readJson('a.json', new TextEncoder().encode(jsonText(value))) as typeof value;
  expect(Object.is(back.a[0], -0) && Object.is(back.a[1], 0) && Object.is(back.b.c, -0)).toBe(true);
  expect(back).toEqual(value);
  expect(jsonText({ a: 1 })).toBe('{\n  "a": 1\n}\n');
  expect(jsonText([1], 0)).toBe('[1]\n');
});

// prettier-ignore
test.each([
  ['{"a":1,"a":2}', 'a'], ['{"a":{"b":1,"b":2}}', 'b'], ['[{"a":1},{"a":1,"b":2,"a":3}]', 'a'], ['{"a":1,"\\u0061":2}', 'a'],
  ['{"a" : 1,\n "a"\t:2}', 'a'], ['{"x":[{}],"x":1}', 'x'], [String.raw`{"\"":1,"\"":2}`, '"'], [String.raw`{"b\\":1,"b\\":2}`, 'b\\'],
])('of %s the name %s is twice in one object', (text, name) => {
  expect(() => readJson('a.json', new TextEncoder().encode(text))).toThrow(`the name ${name} twice`);
});

// prettier-ignore
test.each([
  '{"a":1,"b":"a"}', '{"a":{"a":{"a":1}}}', '[{"a":1},{"a":2}]', '{"a":["a","a"]}', '{"a":"\\"a\\":1"}', '{"a":"b\\\\","b":1}', '["a","a"]', '"a"',
])('of %s none is', (text) => {
  expect(readJson('a.json', new TextEncoder().encode(text))).toEqual(JSON.parse(text));
});

test('a value is shown in a word or as it is', () => {
  expect([undefined, '', 'a', [1], {}, 3, null, false].map(valueText)).toEqual([
    ...['nothing', "''", 'a', 'a list', 'an object', '3', 'null', 'false'],
  ]);
});

test('lines are without blanks and a byte order mark around them, and know where the file has them', async () => {
  const bytes = new TextEncoder().encode('\ufeffa\r\n \t \n\tb c \n\n');
  for (const chunk of [1, 4, 100]) {
    const lines = [];
    for await (const some of linesOf(new Blob([bytes]), chunk)) lines.push(...some);
    expect(
      lines.map(({ bytes: line, ...place }) => [new TextDecoder('utf-8', { ignoreBOM: true }).decode(line!), place]),
    ).toEqual([
      ['a', { number: 1, offset: 0, length: 5, hasLineEnd: true }],
      ['b c', { number: 3, offset: 10, length: 5, hasLineEnd: true }],
    ]);
  }
});

async function allLines(file: Blob) {
  const lines = [];
  for await (const some of linesOf(file)) lines.push(...some);
  return lines;
}

test('letters that begin as a byte order mark does stay', async () => {
  for (const letter of ['\uf000', '\ufec0', '\uf03f', '\u00ef']) {
    const [line] = await allLines(new Blob([letter]));
    expect(new TextDecoder().decode(line!.bytes!)).toBe(letter);
  }
});

test('a line of 32 MiB is the longest that is kept; of a longer one its place is known, and what follows is read', async () => {
  const longest = 32 * 2 ** 20;
  for (const length of [longest, longest + 1]) {
    const bytes = new Uint8Array(length + 3).fill(0x61);
    bytes.set([0x0a, 0x62], length);
    const lines = await allLines(new Blob([bytes]));
    expect(lines.map(({ bytes: line, ...place }) => [line?.length, place])).toEqual([
      [length === longest ? length : undefined, { number: 1, offset: 0, length, hasLineEnd: true }],
      [2, { number: 2, offset: length + 1, length: 2, hasLineEnd: false }],
    ]);
  }
});
