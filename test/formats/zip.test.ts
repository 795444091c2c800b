import { crc32 } from 'node:zlib';
import { zipSync } from 'fflate';
import { expect, test } from 'vitest';
import { Purpose, random } from '../../src/base/rng.ts';
import { filesOfZip, zipOf } from '../../src/formats/zip.ts';
import { zipStream } from '../../src/formats/zipStream.ts';
import { wholeOf } from '../adapters/made.ts';
import { refusedAt } from './refusal.ts';

const text = (words: string) => new TextEncoder().encode(words);
const named = (...names: string[]) => zipOf(new Map(names.map((name) => [name, text(name)])));
const viewOf = (zip: Uint8Array) => new DataView(zip.buffer, zip.byteOffset, zip.byteLength);

/** Numbers that do not compress. */
function noise(length: number): Uint8Array {
  const draw = random(11, Purpose.environment);
  return Uint8Array.from({ length }, () => draw.int(256));
}

/** Where the first entry of the directory begins. */
function directoryOf(zip: Uint8Array): number {
  return viewOf(zip).getUint32(zip.length - 6, true);
}

/** The archive with a number of so many bytes replaced, counted from its directory. */
function forged(zip: Uint8Array, at: number, value: number, width: 2 | 4): Uint8Array {
  const copy = zip.slice();
  const place = directoryOf(zip) + at;
  if (width === 2) viewOf(copy).setUint16(place, value, true);
  else viewOf(copy).setUint32(place, value, true);
  return copy;
}

test.each<readonly [readonly string[], readonly string[]]>([
  [
    ['run/', 'run/a', 'run/b/', 'run/b/c'],
    ['a', 'b/c'],
  ],
  [
    ['run/a', 'runner/b'],
    ['run/a', 'runner/b'],
  ],
  [
    ['run/a', 'b'],
    ['run/a', 'b'],
  ],
  [
    ['a', 'run/b'],
    ['a', 'run/b'],
  ],
  [
    ['x/y/a', 'x/z/b'],
    ['y/a', 'z/b'],
  ],
  [['a'], ['a']],
  [
    ['__MACOSX/run/a', 'run/a', 'ü/__MACOSX/b'],
    ['run/a', 'ü/__MACOSX/b'],
  ],
  [
    ['run..ning/a', 'run..ning/.b'],
    ['a', '.b'],
  ],
])('a zip of %j has the files %j', (given, names) => {
  expect([...filesOfZip('z.zip', named(...given)).keys()]).toEqual(names);
});

test('files of any length come back: none, one slice to the byte, several, stored and compressed', () => {
  // fflate stores noise in a block with five bytes before it, so the third is one slice of 4096 packed bytes
  const files = new Map([
    ['empty', new Uint8Array()],
    ['words', text('hello '.repeat(2000))],
    ['slice', noise(4091)],
    ['slices', noise(10_000)],
    ['w.safetensors', noise(500)],
  ]);
  const zip = zipOf(files);
  const texts = (of: ReadonlyMap<string, Uint8Array>) => Array.from(of, ([name, bytes]) => [name, Buffer.from(bytes).toString('hex')]); // prettier-ignore
  expect(texts(filesOfZip('z.zip', zip))).toEqual(texts(files));
  expect(Buffer.from(zip).includes(Buffer.from(files.get('w.safetensors')!))).toBe(true); // stored as it is
  expect(zip.length).toBeLessThan(4091 + 10_000 + 500 + 1500); // words are compressed
  expect(viewOf(zip).getUint16(12, true)).toBe(0x21); // the first day of 1980, so the bytes are always the same
  expect(filesOfZip('z.zip', zipOf(new Map()))).toEqual(new Map());
  expect(texts(filesOfZip('z.zip', new Uint8Array([7, ...zip]).subarray(1)))).toEqual(texts(files));
});

test('an archive is read with a comment behind it, up to the longest there can be', async () => {
  const comment = zipSync({ a: text('a') }, { comment: 'x'.repeat(300) });
  const withComment = (length: number) => new Uint8Array([...named('a'), ...noise(length).fill(7)]);
  expect([...filesOfZip('z.zip', comment).keys()]).toEqual(['a']);
  expect([...filesOfZip('z.zip', withComment(65_535)).keys()]).toEqual(['a']);
  expect(await refusedAt(() => filesOfZip('z.zip', withComment(65_536)))).toBe(': no end of an archive');
  expect(await refusedAt(() => filesOfZip('z.zip', new Uint8Array(21)))).toBe(': no end of an archive');
});

const ONE = zipOf(new Map([['a.txt', text('hello hello hello hello')]]));
const STORED = zipOf(new Map([['a.safetensors', text('hello')]]));
const [PACKED, END] = [20, 46 + 'a.txt'.length]; // places from the start of the directory

test.each<readonly [string, Uint8Array, string]>([
  ['too many files', forged(ONE, END + 10, 10_001, 2), 'directory: 10001 files'],
  ['contents past the end', forged(ONE, PACKED, ONE.length - 34, 4), `a.txt: ${ONE.length - 34} bytes from byte 35 of`],
  ['a stored file of another size', forged(STORED, 24, 6, 4), 'a.safetensors: 5 stored bytes of a file of 6'],
])('a zip with %s is refused', async (_, zip, found) => {
  expect((await refusedAt(() => filesOfZip('z.zip', zip))).slice(0, found.length)).toBe(found);
});

test('files of 64 MB in all unfold from any archive, and of 200 times its bytes from a large one', async () => {
  const refusal = (zip: Uint8Array) => refusedAt(() => filesOfZip('z.zip', zip));
  expect(await refusal(forged(ONE, 24, 64e6, 4))).toBe('a.txt: 23 bytes of 64000000');
  expect(await refusal(forged(ONE, 24, 64e6 + 1, 4))).toBe(`: 64000001 bytes in an archive of ${ONE.length}`);
  const large = zipOf(new Map([['a', text('hello hello hello')], ['b.safetensors', new Uint8Array(4e5)]])); // prettier-ignore
  const most = 200 * large.length - 4e5;
  expect(await refusal(forged(large, 24, most, 4))).toBe(`a: 17 bytes of ${most}`);
  expect(await refusal(forged(large, 24, most + 1, 4))).toMatch(/^: \d+ bytes in an archive of/);
});

test('a zip that is written as a stream has the fields of PKWARE’s notes, sizes behind each file', async () => {
  const files = [['ü.txt', text('hello')], ['b', noise(300)]] as const; // prettier-ignore
  const pieces = (bytes: Uint8Array) =>
    async function* () {
      yield await Promise.resolve(bytes.subarray(0, 2));
      yield bytes.subarray(2);
    };
  const streamed = zipStream('z.zip', files.map(([name, bytes]) => ({ name, bytes: bytes.length, pieces: pieces(bytes) }))); // prettier-ignore
  const zip = await wholeOf(streamed);
  const view = viewOf(zip);
  const fields = (at: number, widths: string) => {
    let place = at;
    return widths.split('').map((width) => {
      place += Number(width);
      return width === '2' ? view.getUint16(place - 2, true) : view.getUint32(place - 4, true);
    });
  };
  let at = 0;
  let entry = directoryOf(zip);
  const directory = entry;
  for (const [name, bytes] of files) {
    const [letters, sum] = [text(name), crc32(bytes)];
    // signature, version, flags, method, time, day; checksum and sizes behind the file; lengths of name and of extras
    expect(fields(at, '42222244422')).toEqual([0x04034b50, 20, 0x0808, 0, 0, 0x21, 0, 0, 0, letters.length, 0]);
    expect(zip.slice(at + 30, at + 30 + letters.length)).toEqual(letters);
    const end = at + 30 + letters.length + bytes.length;
    expect(fields(end, '4444')).toEqual([0x08074b50, sum, bytes.length, bytes.length]);
    // signature, versions, flags, method, time, day, checksum, sizes, lengths, disk and attributes, place
    const own = [0x02014b50, 20, 20, 0x0808, 0, 0, 0x21, sum, bytes.length, bytes.length, letters.length];
    expect(fields(entry, '42222224442222244')).toEqual([...own, 0, 0, 0, 0, 0, at]);
    expect(zip.slice(entry + 46, entry + 46 + letters.length)).toEqual(letters);
    entry += 46 + letters.length;
    at = end + 16;
  }
  expect([at, entry]).toEqual([directory, zip.length - 22]);
  expect(fields(entry, '42222442')).toEqual([0x06054b50, 0, 0, 2, 2, entry - directory, directory, 0]);
});

async function* noPieces() {
  yield await Promise.resolve(new Uint8Array());
}

test('a zip that is written as a stream has less than 2³² − 1 bytes', async () => {
  const overhead = 30 + 16 + 46 + 2 + 22;
  const big = (bytes: number) => zipStream('z.zip', [{ name: 'a', bytes: bytes - overhead, pieces: noPieces }]);
  expect(big(2 ** 32 - 2).bytes).toBe(2 ** 32 - 2);
  expect(await refusedAt(() => big(2 ** 32 - 1))).toBe(': 4294967295 bytes');
});
