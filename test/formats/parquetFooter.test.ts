import { expect, test } from 'vitest';
import { openParquet } from '../../src/formats/parquet.ts';

/** A value in Thrift's compact protocol, of which a Parquet footer is made, with the number of its type. */
type Thrift = readonly [type: number, bytes: readonly number[]];

function varint(value: bigint): number[] {
  return value < 128n ? [Number(value)] : [Number(value % 128n) + 128, ...varint(value / 128n)];
}
const whole = (value: number): Thrift => [6, varint(value < 0 ? BigInt(-2 * value - 1) : BigInt(2 * value))];
const letters = (value: string): Thrift => [8, [...varint(BigInt(value.length)), ...new TextEncoder().encode(value)]];
const struct = (fields: Readonly<Record<number, Thrift>>): Thrift => {
  let last = 0;
  const bytes = Object.entries(fields).flatMap(([id, [type, value]]) => {
    const step = Number(id) - last;
    last = Number(id);
    return [(step << 4) | type, ...value];
  });
  return [12, [...bytes, 0]];
};
const list = (type: number, items: readonly Thrift[]): Thrift => [9, [(items.length << 4) | type, ...items.flatMap(([, bytes]) => bytes)]]; // prettier-ignore

/** Parquet's own numbers for types and for how pages are packed. */
const [INT32, INT64, DOUBLE] = [1, 2, 5];
const DECIMAL = 5;
const CODECS = { UNCOMPRESSED: 0, SNAPPY: 1, LZO: 3, ZSTD: 6, LZ4_RAW: 7 };

interface Group {
  readonly rows: number;
  readonly bytes: number;
  readonly codec?: keyof typeof CODECS;
}
/** Its pages would take a thousand bytes. */
const column = (codec: number) => {
  const meta = { 1: whole(INT64), 2: list(5, [whole(0)]), 3: list(8, [letters('a')]), 4: whole(codec), 5: whole(1) };
  return struct({ 2: whole(4), 3: struct({ ...meta, 6: whole(1000), 7: whole(1000), 9: whole(4) }) });
};
const COLUMNS = [
  struct({ 1: whole(INT64), 3: whole(1), 4: letters('a') }),
  struct({ 1: whole(INT32), 3: whole(1), 4: letters('b') }),
  struct({ 1: whole(DOUBLE), 3: whole(1), 4: letters('c') }),
  struct({ 1: whole(INT64), 3: whole(1), 4: letters('d'), 6: whole(DECIMAL) }),
];

/** A Parquet file of these row groups without a page. */
function parquetOf(...groups: readonly Group[]): Blob {
  const rowGroups = groups.map(({ rows, bytes, codec }) =>
    struct({ 1: list(12, codec ? [column(CODECS[codec])] : []), 2: whole(bytes), 3: whole(rows) }),
  );
  const root = struct({ 4: letters('root'), 5: whole(COLUMNS.length) });
  const [, footer] = struct({ 1: whole(1), 2: list(12, [root, ...COLUMNS]), 3: whole(0), 4: list(12, rowGroups) });
  const length = new Uint8Array(4);
  new DataView(length.buffer).setUint32(0, footer.length, true);
  return new Blob(['PAR1', Uint8Array.from(footer), length, 'PAR1']);
}
const LARGEST = 256 * 2 ** 20;

test('row groups are read one after the other, and columns of whole numbers are known', async () => {
  const { rowGroups: blocks, wholeNumbers } = await openParquet(parquetOf({ rows: 3, bytes: 9 }, { rows: 0, bytes: 0 }, { rows: 5, bytes: LARGEST })); // prettier-ignore
  expect(blocks).toEqual([[0, 3], [3, 3], [3, 8]]); // prettier-ignore
  expect([...wholeNumbers]).toEqual(['a', 'b']);
  const most = await openParquet(parquetOf({ rows: 1, bytes: 1 }, { rows: 10_000_000 - 1, bytes: 1 }));
  expect(most.rowGroups.at(-1)).toEqual([1, 10_000_000]);
});

test.each<readonly [RegExp, Group]>([
  [/-1 rows after 2, and the limit is 10000000/, { rows: -1, bytes: 1 }],
  [/9999999 rows after 2, and the limit is 10000000/, { rows: 10_000_000 - 1, bytes: 1 }],
  [/a row group of 268435457 bytes, and the limit is 268435456/, { rows: 1, bytes: LARGEST + 1 }],
  [/compressed by LZO\. Write the file with one of SNAPPY, GZIP, BROTLI, LZ4, ZSTD\.$/, { rows: 1, bytes: 1, codec: 'LZO' }], // prettier-ignore
])('a footer is refused: %s', async (message, group) => {
  await expect(openParquet(parquetOf({ rows: 2, bytes: 1 }, group))).rejects.toThrow(message);
});

test.each(['UNCOMPRESSED', 'SNAPPY', 'ZSTD', 'LZ4_RAW'] as const)('a column packed by %s is opened', async (codec) => {
  expect((await openParquet(parquetOf({ rows: 1, bytes: 1, codec }))).rowGroups).toEqual([[0, 1]]);
});

test('a file that is cut off, and pages that are not there, are told in a sentence', async () => {
  const file = parquetOf({ rows: 1, bytes: 1, codec: 'SNAPPY' });
  for (const broken of [
    file.slice(0, -1),
    file.slice(40),
    new Blob(['PAR1']),
    new Blob(['PAR1\xff\xff\xff\x7fPAR1']),
  ]) {
    await expect(openParquet(broken)).rejects.toThrow(/^Parquet: \S/);
    await expect(openParquet(broken)).rejects.not.toThrow(/undefined|null/);
  }
  const { read } = await openParquet(file);
  await expect(read(0, 1)).rejects.toThrow(new RegExp(`^Parquet: bytes 4 to 1004 of ${file.size}$`));
});
