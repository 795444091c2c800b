import { ProblemError } from '../base/problem.ts';
import { crcFunction } from './crc.ts';

/**
 * Writes and reads TensorBoard's event files: records with masked checksums around small protocol buffers, which are encoded by
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
  let at = 0;
  for (const { data, end, isIntact } of recordsIn(file)) {
    if (!isIntact || stepOf(data) > last) break;
    at = end;
  }
  return at;
}

/** Whether bytes begin as an event file does: with the length of a record and its checksum. */
export function isEventFile(file: Uint8Array): boolean {
  return file.length >= 12 && hasLengthAt(file, 0);
}

/**
 * Reads the scalars of an event file, step by step. If a writer started again at a step, what it had written from there
 * on is left out, as in TensorBoard. A record that is cut off at the end is left out. Throws ProblemError for damage.
 */
export function readScalars(file: Uint8Array): ReadonlyMap<number, readonly Scalar[]> {
  const steps = new Map<number, Scalar[]>();
  let at = 0;
  for (const { data, end, isIntact } of recordsIn(file)) {
    if (!isIntact) {
      if (end > file.length && hasLengthAt(file, at)) break; // the writer was stopped, or is still writing
      throw new ProblemError(`The record at byte ${at} is damaged: its checksum is wrong. Copy the file again.`);
    }
    const step = stepOf(data);
    for (const { number, content } of fieldsIn(data)) {
      const isStart = number === 7 && fieldsIn(content).some((part) => part.number === 1 && part.value === 1);
      if (isStart) for (const later of [...steps.keys()].filter((each) => each >= step)) steps.delete(later);
      const values = number === 5 ? fieldsIn(content).filter((part) => part.number === 1) : [];
      const scalars = values.map((value) => scalarIn(value.content)).filter((scalar) => scalar !== null);
      if (scalars.length > 0) steps.set(step, [...(steps.get(step) ?? []), ...scalars]);
    }
    at = end;
  }
  return steps;
}

/** A Summary.Value: field 1 tag, and field 2 simple_value (float) or field 8 tensor. Null if it isn't one number. */
function scalarIn(data: Uint8Array): Scalar | null {
  let tag = '';
  let value: number | null = null;
  for (const { number, content } of fieldsIn(data)) {
    if (number === 1) tag = new TextDecoder().decode(content);
    if (number === 2 && content.length === 4) value = viewOf(content).getFloat32(0, true);
    if (number === 8) value = tensorScalar(content);
  }
  return value === null ? null : [tag, value];
}

/** A TensorProto: field 1 dtype, and the number as raw bytes (field 4), float_val (5) or double_val (6). */
function tensorScalar(data: Uint8Array): number | null {
  const fields = fieldsIn(data);
  const isDouble = fields.some(({ number, value }) => number === 1 && value === 2);
  const bytes = fields.find(({ number }) => number >= 4 && number <= 6)?.content;
  if (bytes?.length !== (isDouble ? 8 : 4)) return null;
  return isDouble ? viewOf(bytes).getFloat64(0, true) : viewOf(bytes).getFloat32(0, true);
}

interface EventRecord {
  readonly data: Uint8Array;
  readonly end: number; // the byte after it; beyond the file if the record is cut off
  readonly isIntact: boolean;
}

/** The records of a file, up to the first one that is cut off or damaged. */
function* recordsIn(file: Uint8Array): Generator<EventRecord> {
  for (let at = 0; at < file.length;) {
    const length = at + 8 <= file.length ? Number(viewOf(file).getBigUint64(at, true)) : Infinity;
    const end = at + 12 + length + 4;
    const data = file.subarray(at + 12, at + 12 + length);
    const isIntact = end <= file.length && viewOf(file).getUint32(end - 4, true) === maskedCrc(crc32c(data));
    yield { data, end, isIntact };
    if (!isIntact) return;
    at = end;
  }
}

/** Whether the length of a record is at `at`, with its checksum; also if the file ends before that checksum. */
function hasLengthAt(file: Uint8Array, at: number): boolean {
  const isCut = at + 12 > file.length;
  return isCut || viewOf(file).getUint32(at + 8, true) === maskedCrc(crc32c(file.subarray(at, at + 8)));
}

interface MessageField {
  readonly number: number;
  readonly value: number; // of a varint
  readonly content: Uint8Array; // of any other field
}

/** The fields of a protocol buffer, up to the first one that can't be read. */
function fieldsIn(data: Uint8Array): readonly MessageField[] {
  const fields: MessageField[] = [];
  const none = new Uint8Array(0);
  let at = 0;
  const readVarint = () => {
    const end = data.subarray(at).findIndex((byte) => byte < 128);
    const bytes = data.subarray(at, at + end + 1);
    at = end < 0 ? data.length : at + end + 1;
    return bytes.reduceRight((sum, byte) => sum * 128 + (byte & 127), 0);
  };
  while (at < data.length) {
    const key = readVarint();
    const [number, type] = [Math.floor(key / 8), key % 8];
    if (type === 0) {
      fields.push({ number, value: readVarint(), content: none });
      continue;
    }
    const length = type === 1 ? 8 : type === 5 ? 4 : type === 2 ? readVarint() : Infinity;
    if (at + length > data.length) break;
    fields.push({ number, value: 0, content: data.subarray(at, at + length) });
    at += length;
  }
  return fields;
}

/** The step of an event; 0 if it has none. */
function stepOf(data: Uint8Array): number {
  return fieldsIn(data).find(({ number }) => number === 2)?.value ?? 0;
}

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array) => new DataView(buffer, byteOffset, byteLength);

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
