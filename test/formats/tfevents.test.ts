import { expect, test } from 'vitest';
import {
  intactBytesUpTo,
  crc32c,
  isEventFile,
  readScalars,
  versionRecord,
  sessionStart,
  scalarRecord,
} from '../../src/formats/tfevents.ts';

// tensorboard 2.21's RecordWriter over Event(wall_time=1.5, …): a version; step 300 with one value; step 300 with SessionLog.START
const WRITTEN = {
  version: '1800000000000000a37f4b2209000000000000f83f1a0d627261696e2e4576656e743a322a28646c',
  scalar: '2300000000000000b09f774309000000000000f83f10ac022a150a130a0c6576616c2f7375636365737315cdcccc3d9760a915',
  session: '100000000000000095fbfe1809000000000000f83f10ac023a020801713b788a',
};
/** The same writer, step 300: a value as a tensor, with its number as bytes, as float_val, and as double_val. */
const TENSORS = [
  '3500000000000000d6c55de609000000000000f83f10ac022a270a250a0c747261696e2f726577617264420808012204cdcccc3d4a0b0a090a077363616c61727375000cdd',
  '3500000000000000d6c55de609000000000000f83f10ac022a270a250a0c747261696e2f726577617264420808012a04cdcccc3d4a0b0a090a077363616c6172736a8d1551',
  '39000000000000008b0737f109000000000000f83f10ac022a2b0a290a0c747261696e2f726577617264420c080232089a9999999999b93f4a0b0a090a077363616c6172731a5cf1e2',
];
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

test('the checksum is CRC-32C: the check value of its definition, and the vectors of RFC 3720 B.4', () => {
  expect(crc32c(new TextEncoder().encode('123456789'))).toBe(0xe3069283);
  expect(crc32c(new Uint8Array(32))).toBe(0x8a9136aa);
  expect(crc32c(new Uint8Array(32).fill(255))).toBe(0x62a8ab43);
  expect(crc32c(Uint8Array.from({ length: 32 }, (_, i) => i))).toBe(0x46dd794e);
});

test('a step is framed as TensorBoard does it, byte for byte', () => {
  expect(hex(versionRecord(1.5))).toBe(WRITTEN.version);
  expect(hex(scalarRecord(1.5, 300, [['eval/success', 0.1]]))).toBe(WRITTEN.scalar);
  expect(hex(sessionStart(1.5, 300))).toBe(WRITTEN.session);
});

test('a step that is no whole number is refused', () => {
  for (const step of [-1, 0.5, NaN, 2 ** 53]) expect(() => scalarRecord(0, step, [])).toThrow(/is not a whole number/);
});

test('a file is cut after a step, and at a record that is not whole', () => {
  const records = [versionRecord(1), ...[0, 1, 127, 128, 70_000].map((step) => scalarRecord(1, step, [['a', step]]))];
  const file = Buffer.concat(records);
  const lengthOf = (n: number) => Buffer.concat(records.slice(0, n)).length;
  expect([0, 1, 126, 127, 128, 69_999, 70_000].map((last) => intactBytesUpTo(file, last))).toEqual(
    [2, 3, 3, 4, 5, 5, 6].map(lengthOf),
  );
  expect(intactBytesUpTo(file.subarray(0, -1), 1e6)).toBe(lengthOf(5));
  expect(intactBytesUpTo(file.fill(7, lengthOf(2) + 14, lengthOf(2) + 15), 1e6)).toBe(lengthOf(2)); // damaged
  expect(intactBytesUpTo(new TextEncoder().encode('{"no":"event file"}'), 1e6)).toBe(0);
  expect(intactBytesUpTo(new Uint8Array(64).fill(255), 1e6)).toBe(0); // a length beyond all numbers
});

test('scalars are read from simple values and from tensors', () => {
  const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'hex'));
  expect(readScalars(bytes(WRITTEN.version + WRITTEN.scalar))).toEqual(new Map([[300, [['eval/success', Math.fround(0.1)]]]])); // prettier-ignore
  const read = TENSORS.map((text) => readScalars(bytes(text)).get(300)?.[0]);
  expect(read).toEqual([Math.fround(0.1), Math.fround(0.1), 0.1].map((value) => ['train/reward', value]));
});

test('a writer that starts again drops its later steps; a cut record is left out, a damaged one refused with its place', () => {
  const step = (n: number, value: number) => scalarRecord(1, n, [['a', value]]);
  const file = Buffer.concat([versionRecord(1), step(1, 0.5), step(2, 0.5), step(3, 0.5), sessionStart(1, 2), step(2, 0.25)]); // prettier-ignore
  expect(isEventFile(file)).toBe(true);
  expect([...readScalars(file)]).toEqual([[1, [['a', 0.5]]], [2, [['a', 0.25]]]]); // prettier-ignore
  expect([...readScalars(file.subarray(0, -1)).keys()]).toEqual([1]);
  const at = versionRecord(1).length;
  expect(() => readScalars(Buffer.from(file).fill(7, at + 14, at + 15))).toThrow(`The record at byte ${at} is damaged`);
  expect(() => readScalars(Buffer.from(file).fill(255, at, at + 8))).toThrow(`The record at byte ${at} is damaged`);
});
