import { crcFunction } from './crc.ts';

/**
 * Writes TensorBoard's event files: records with masked checksums around small protocol buffers, which are encoded by
 * hand (tensorboard/summary/writer/record_writer.py, compat/proto/event.proto and summary.proto). A file begins with
 * `versionRecord`.
 */

/** A named number of one step. */
export type Scalar = readonly [tag: string, value: number];

const MASK_DELTA = 0xa282ead8; // masks checksums, because a checksum of data that contains checksums would be weak
/** CRC-32C of bytes (Castagnoli's polynomial). */
export const crc32c = crcFunction(0x82f63b78);

/** The first record of a file. `wallTime` is in seconds since 1970, here and below. */
export function versionRecord(wallTime: number): Uint8Array {
  return record(event(wallTime, 0, field(3, text('brain.Event:2'))));
}

/** Lets a writer continue at `step`: readers forget later steps that they have seen (SessionLog.START). */
export function sessionStart(wallTime: number, step: number): Uint8Array {
  return record(event(wallTime, step, field(7, [...varint(1 << 3), ...varint(1)])));
}

/** The record of a step's numbers, stored as float32. Throws RangeError unless `step` is a whole number from 0. */
export function scalarRecord(wallTime: number, step: number, values: readonly Scalar[]): Uint8Array {
  const summary = values.flatMap(([tag, value]) => field(1, [...field(1, text(tag)), (2 << 3) | 5, ...float(value)]));
  return record(event(wallTime, step, field(5, summary)));
}

/** Bytes, from the file's beginning, that are intact records of steps up to `last`. 0 if it is not an event file. */
export function intactBytesUpTo(file: Uint8Array, last: number): number {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  let at = 0;
  while (at + 16 <= file.length) {
    const length = Number(view.getBigUint64(at, true));
    const data = file.subarray(at + 12, at + 12 + length);
    const end = at + 12 + length + 4;
    const intact = end <= file.length && view.getUint32(end - 4, true) === maskedCrc(crc32c(data));
    if (!intact || stepOf(data) > last) break;
    at = end;
  }
  return at;
}

/** Reads the step of an event that `event` wrote: it comes after the wall time, or is missing, which means 0. */
function stepOf(data: Uint8Array): number {
  const [tag, ...bytes] = data.subarray(9);
  if (tag !== 2 << 3) return 0;
  const end = bytes.findIndex((byte) => byte < 128);
  return bytes.slice(0, end + 1).reduceRight((step, byte) => step * 128 + (byte & 127), 0);
}

/** An Event message: field 1 wall_time (double), field 2 step (int64; 0 is not written), and one field with the content. */
function event(wallTime: number, step: number, content: readonly number[]): Uint8Array {
  const stepBytes = varint(step);
  return Uint8Array.from([
    (1 << 3) | 1,
    ...double(wallTime),
    ...(step === 0 ? [] : [2 << 3, ...stepBytes]),
    ...content,
  ]);
}

/** A record: length, checksum of the length, data, checksum of the data; all little-endian. */
function record(data: Uint8Array): Uint8Array {
  const out = new Uint8Array(8 + 4 + data.length + 4);
  const view = new DataView(out.buffer);
  view.setBigUint64(0, BigInt(data.length), true);
  view.setUint32(8, maskedCrc(crc32c(out.subarray(0, 8))), true);
  out.set(data, 12);
  view.setUint32(12 + data.length, maskedCrc(crc32c(data)), true);
  return out;
}

function maskedCrc(checksum: number): number {
  return (((checksum >>> 15) | (checksum << 17)) + MASK_DELTA) >>> 0;
}

/** A length-delimited field: text, or a nested message. */
function field(number: number, bytes: readonly number[]): number[] {
  return [(number << 3) | 2, ...varint(bytes.length), ...bytes];
}

function varint(value: number): number[] {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`${value} is not a whole number from 0.`);
  const bytes: number[] = [];
  let remaining = value;
  for (; remaining > 127; remaining = Math.floor(remaining / 128)) bytes.push((remaining % 128) | 128);
  return [...bytes, remaining];
}

function text(content: string): number[] {
  return [...new TextEncoder().encode(content)];
}
function float(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setFloat32(0, value, true);
  return bytes;
}
function double(value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setFloat64(0, value, true);
  return bytes;
}
