import type { ByteSource } from './byteSource.ts';
import { ProblemError } from '../base/problem.ts';

const REMEDY = 'Choose a GGUF file, whole, as it was published.';

/** Thrown when the loaded bytes end before the value does, although the file goes on. */
class EndOfBytes extends Error {
  override readonly name = 'EndOfBytes';
  readonly cursor: Cursor;
  constructor(cursor: Cursor) {
    super(`${cursor.file}: ${cursor.place}: the bytes given end here. Give more of the file.`);
    this.cursor = cursor;
  }
}

/** Little-endian. Throws ProblemError past the file's end, and EndOfBytes past the loaded bytes. */
class Cursor {
  offset = 0;
  place = ''; // what is being read, for messages
  listElements = 0; // number of list elements read so far
  readonly file: string;
  readonly size: number; // bytes of the whole file, of which `bytes` are the first
  private readonly bytes: Uint8Array;
  private readonly view: DataView;
  private readonly decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

  constructor(file: string, bytes: Uint8Array, size: number) {
    this.file = file;
    this.bytes = bytes;
    this.size = size;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Makes the error for a problem at this place; the caller throws it. */
  problem(got: string, want: string): ProblemError {
    return new ProblemError([{ file: this.file, place: this.place, got, want, remedy: REMEDY }]);
  }

  /** Moves past the next `length` bytes and returns their offset. */
  private take(length: number): number {
    const start = this.offset;
    const end = start + length;
    if (end > this.size) {
      throw this.problem(
        `the end of the file at byte ${this.size}`,
        `${length} bytes from byte ${start}; it may have been cut off`,
      );
    }
    if (end > this.bytes.length) throw new EndOfBytes(this);
    this.offset = end;
    return start;
  }

  u8(): number {
    return this.view.getUint8(this.take(1));
  }
  i8(): number {
    return this.view.getInt8(this.take(1));
  }
  u16(): number {
    return this.view.getUint16(this.take(2), true);
  }
  i16(): number {
    return this.view.getInt16(this.take(2), true);
  }
  u32(): number {
    return this.view.getUint32(this.take(4), true);
  }
  i32(): number {
    return this.view.getInt32(this.take(4), true);
  }
  f32(): number {
    return this.view.getFloat32(this.take(4), true);
  }
  f64(): number {
    return this.view.getFloat64(this.take(8), true);
  }
  u64(): number | bigint {
    return numberIfExact(this.view.getBigUint64(this.take(8), true));
  }
  i64(): number | bigint {
    return numberIfExact(this.view.getBigInt64(this.take(8), true));
  }

  bool(): boolean {
    const byte = this.u8();
    if (byte > 1) throw this.problem(`the byte ${byte} for a truth value`, '0 or 1');
    return byte === 1;
  }

  /** Reads a 64-bit count. Throws if it is larger than `maxCount`. */
  count(maxCount: number): number {
    const value = this.u64();
    if (typeof value === 'bigint' || value > maxCount) throw this.problem(`the count ${value}`, `at most ${maxCount}`);
    return value;
  }

  /** Reads UTF-8 text, which follows its length in bytes. */
  string(maxBytes: number): string {
    const length = this.u64();
    if (typeof length === 'bigint' || length > maxBytes) {
      throw this.problem(`a text of ${length} bytes`, `at most ${maxBytes}`);
    }
    const start = this.take(length);
    try {
      return this.decoder.decode(this.bytes.subarray(start, start + length));
    } catch {
      throw this.problem('bytes that are not UTF-8', 'text in UTF-8');
    }
  }
}

/** Converts to a number if that is exact; otherwise the bigint stays. */
function numberIfExact(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** A value in a GGUF header. A 64-bit whole number is a number if that is exact, otherwise a bigint. */
export type GgufValue = number | bigint | boolean | string | readonly GgufValue[];

/** A tensor's entry in the header. Its bytes begin at `dataStart + offset`. */
export interface GgufTensorInfo {
  readonly name: string;
  readonly shape: readonly number[]; // in the file's order: fastest dimension first, so [in, out] for a matrix
  readonly type: number; // ggml's type number, such as 0 F32, 1 F16, 2 Q4_0, 3 Q4_1, 8 Q8_0, 14 Q6_K, 30 BF16
  readonly offset: number; // bytes from dataStart, a multiple of the alignment
}

/** The header of a GGUF file: everything except the tensors' bytes. */
export interface GgufHeader {
  readonly file: string; // its name, for messages
  readonly version: number;
  readonly metadata: ReadonlyMap<string, GgufValue>;
  readonly keyRanges: ReadonlyMap<string, readonly [begin: number, end: number]>; // bytes of each key's name and value
  readonly tensors: ReadonlyMap<string, GgufTensorInfo>; // in the order of the file
  readonly alignment: number;
  readonly dataStart: number; // bytes from the start of the file
  readonly size: number; // bytes of the whole file
}

/** `GGUF`, little-endian. */
const MAGIC = 0x46554747;
const VERSIONS = [2, 3]; // 2 has the same layout as 3; 1 had 32-bit counts
const MAX_KEYS = 65_536;
const MAX_TENSORS = 65_536;
const MAX_KEY_BYTES = 65_535; // the format's limit
const MAX_TENSOR_NAME_BYTES = 64; // ggml's limit
const MAX_DIMENSIONS = 4; // ggml's limit
const MAX_STRING_BYTES = 1 << 24;
const MAX_LIST_DEPTH = 4; // of lists in lists
/** Of all lists together. The largest vocabularies have some 300,000 words and 500,000 merges. */
const MAX_LIST_ELEMENTS = 1 << 22;
const DEFAULT_ALIGNMENT = 32;
const FIRST_READ_BYTES = 1 << 20;
const MAX_HEADER_BYTES = 1 << 26; // the largest published headers have 15 MB

/**
 * Reads the header of a GGUF file (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md, versions 2 and 3). It
 * first reads 1 MiB of the file, and doubles that until the header is complete, up to 64 MiB. Throws ProblemError, with
 * the place, on a wrong magic or version, on counts and lengths past their limits or the file's end, on unknown types,
 * on texts that are not UTF-8, on keys or tensors that occur twice, and on offsets that are not aligned or lie outside
 * the file.
 */
export async function readGgufHeader(source: ByteSource): Promise<GgufHeader> {
  for (let length = FIRST_READ_BYTES; ; length *= 2) {
    const end = Math.min(length, source.size);
    const bytes = await source.read(0, end);
    try {
      return decodeGgufHeader(source.name, bytes, source.size);
    } catch (error) {
      if (!(error instanceof EndOfBytes) || end === source.size) throw error;
      if (length >= MAX_HEADER_BYTES) throw error.cursor.problem(`a header of over ${length} bytes`, 'at most 64 MiB');
    }
  }
}

/** Reads the start of a file of `size` bytes. Throws ProblemError as `readGgufHeader`, and EndOfBytes if `bytes` end before the header. */
export function decodeGgufHeader(file: string, bytes: Uint8Array, size = bytes.length): GgufHeader {
  const cursor = new Cursor(file, bytes, size);
  cursor.place = 'magic';
  const magic = cursor.u32();
  if (magic !== MAGIC) throw cursor.problem(hex(magic), 'the letters GGUF');
  cursor.place = 'version';
  const version = cursor.u32();
  if (!VERSIONS.includes(version)) throw cursor.problem(versionText(version), '2 or 3, little-endian');
  cursor.place = 'tensor count';
  const tensorCount = cursor.count(MAX_TENSORS);
  cursor.place = 'key count';
  const keyCount = cursor.count(MAX_KEYS);
  const { metadata, keyRanges } = readMetadata(cursor, keyCount);
  const tensors = readTensors(cursor, tensorCount);
  const alignment = alignmentOf(cursor, metadata);
  const dataStart = Math.ceil(cursor.offset / alignment) * alignment;
  checkOffsets(cursor, tensors, { alignment, dataStart, size });
  return { file, version, metadata, keyRanges, tensors, alignment, dataStart, size };
}

const hex = (number: number) => `0x${number.toString(16).padStart(8, '0')}`;

function versionText(version: number): string {
  const swapped = version >>> 24;
  return VERSIONS.includes(swapped) && (version & 0xffffff) === 0 ? `version ${swapped}, big-endian` : String(version);
}

function readMetadata(cursor: Cursor, keys: number): Pick<GgufHeader, 'metadata' | 'keyRanges'> {
  const metadata = new Map<string, GgufValue>();
  const keyRanges = new Map<string, readonly [number, number]>();
  for (let i = 0; i < keys; i++) {
    const begin = cursor.offset;
    cursor.place = `key ${i} of ${keys}`;
    const key = cursor.string(MAX_KEY_BYTES);
    if (key === '') throw cursor.problem('a key without a name', 'a name');
    if (metadata.has(key)) throw cursor.problem(`the key ${key} twice`, 'every key once');
    cursor.place = key;
    metadata.set(key, readValue(cursor, cursor.u32(), 0));
    keyRanges.set(key, [begin, cursor.offset]);
  }
  return { metadata, keyRanges };
}

function readValue(cursor: Cursor, type: number, depth: number): GgufValue {
  switch (type) {
    case 0:
      return cursor.u8();
    case 1:
      return cursor.i8();
    case 2:
      return cursor.u16();
    case 3:
      return cursor.i16();
    case 4:
      return cursor.u32();
    case 5:
      return cursor.i32();
    case 6:
      return cursor.f32();
    case 7:
      return cursor.bool();
    case 8:
      return cursor.string(MAX_STRING_BYTES);
    case 9:
      return readList(cursor, depth);
    case 10:
      return cursor.u64();
    case 11:
      return cursor.i64();
    case 12:
      return cursor.f64();
  }
  throw cursor.problem(`a value of type ${type}`, 'a type from 0 to 12');
}

function readList(cursor: Cursor, depth: number): readonly GgufValue[] {
  if (depth >= MAX_LIST_DEPTH) throw cursor.problem(`lists in lists, over ${MAX_LIST_DEPTH} deep`, 'a list of values');
  const type = cursor.u32();
  // every element has at least one byte
  const length = cursor.count(Math.min(MAX_LIST_ELEMENTS - cursor.listElements, cursor.size - cursor.offset));
  cursor.listElements += length;
  const { place } = cursor;
  const list: GgufValue[] = [];
  for (let i = 0; i < length; i++) {
    cursor.place = `${place}, ${i}`;
    list.push(readValue(cursor, type, depth + 1));
  }
  cursor.place = place;
  return list;
}

function readTensors(cursor: Cursor, count: number): Map<string, GgufTensorInfo> {
  const tensors = new Map<string, GgufTensorInfo>();
  for (let i = 0; i < count; i++) {
    cursor.place = `tensor ${i} of ${count}`;
    const name = cursor.string(MAX_TENSOR_NAME_BYTES);
    if (name === '') throw cursor.problem('a tensor without a name', 'a name');
    if (tensors.has(name)) throw cursor.problem(`the tensor ${name} twice`, 'every tensor once');
    cursor.place = name;
    const dimensions = cursor.u32();
    if (dimensions < 1 || dimensions > MAX_DIMENSIONS) throw cursor.problem(`${dimensions} dimensions`, '1 to 4');
    const shape = Array.from({ length: dimensions }, () => cursor.count(Number.MAX_SAFE_INTEGER));
    if (shape.includes(0) || !Number.isSafeInteger(shape.reduce((a, b) => a * b, 1))) {
      throw cursor.problem(`the shape [${shape.join(',')}]`, 'sizes from 1 whose product fits 53 bits');
    }
    const type = cursor.u32();
    const offset = cursor.count(Number.MAX_SAFE_INTEGER);
    tensors.set(name, { name, shape, type, offset });
  }
  return tensors;
}

function alignmentOf(cursor: Cursor, metadata: ReadonlyMap<string, GgufValue>): number {
  const alignment = metadata.get('general.alignment') ?? DEFAULT_ALIGNMENT;
  if (typeof alignment === 'number' && alignment >= 8 && alignment <= 1 << 20 && alignment % 8 === 0) return alignment;
  cursor.place = 'general.alignment';
  throw cursor.problem(typeof alignment === 'object' ? 'a list' : String(alignment), 'a multiple of 8, at most 1 MiB');
}

function checkOffsets(
  cursor: Cursor,
  tensors: ReadonlyMap<string, GgufTensorInfo>,
  { alignment, dataStart, size }: Pick<GgufHeader, 'alignment' | 'dataStart' | 'size'>,
): void {
  for (const { name, offset } of tensors.values()) {
    cursor.place = name;
    if (offset % alignment !== 0) throw cursor.problem(`offset ${offset}`, `a multiple of ${alignment}`);
    if (dataStart + offset >= size) {
      throw cursor.problem(
        `byte ${dataStart + offset} as its first in a file of ${size}`,
        'a place inside the file; it may have been cut off',
      );
    }
  }
}
