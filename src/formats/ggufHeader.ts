import type { ByteSource } from './byteSource.ts';
import { Cursor, EndOfBytes } from './ggufCursor.ts';

/** A value of a GGUF header. Whole numbers of 64 bits are numbers where a number holds them exactly. */
export type GgufValue = number | bigint | boolean | string | readonly GgufValue[];

/** What the header says of a tensor; its bytes lie at `dataStart + offset`. */
export interface GgufTensorInfo {
  readonly name: string;
  readonly shape: readonly number[]; // as the file has it: the fastest dimension first, so [in, out] for a matrix
  readonly type: number; // ggml's number of it: 0 F32, 1 F16, 2 Q4_0, 3 Q4_1, 8 Q8_0, 14 Q6_K, 30 BF16
  readonly offset: number; // bytes from dataStart, a multiple of the alignment
}

/** All of a GGUF file but its tensors' bytes. */
export interface GgufHeader {
  readonly file: string; // its name, for messages
  readonly version: number;
  readonly metadata: ReadonlyMap<string, GgufValue>;
  readonly places: ReadonlyMap<string, readonly [begin: number, end: number]>; // bytes of the file that a key takes, with its name and value
  readonly tensors: ReadonlyMap<string, GgufTensorInfo>; // in the order of the file
  readonly alignment: number;
  readonly dataStart: number; // bytes from the start of the file
  readonly size: number; // bytes of the whole file
}

/** `GGUF`, little-endian. */
const MAGIC = 0x46554747;
const VERSIONS = [2, 3]; // 2 is laid out as 3; 1 counted in 32 bits
const MOST_KEYS = 65_536;
const MOST_TENSORS = 65_536;
const MOST_KEY_BYTES = 65_535; // the format's own bound
const MOST_NAME_BYTES = 64; // of a tensor, ggml's own bound
const MOST_DIMENSIONS = 4; // ggml's own bound
const MOST_STRING_BYTES = 1 << 24;
const MOST_DEPTH = 4; // lists in lists
const MOST_ELEMENTS = 1 << 22; // of all lists together; the largest vocabularies have some 300,000 words and 500,000 merges
const DEFAULT_ALIGNMENT = 32;
const FIRST_READ = 1 << 20;
const MOST_HEADER_BYTES = 1 << 26; // the largest published ones have 15 MB

/**
 * Reads the header of a GGUF file (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md, versions 2 and 3), in slices of 1 MiB
 * doubled until it is whole, at most 64 MiB. Throws ProblemError, with the place, on anything else: another magic or version, counts and
 * lengths past their bounds or the file's end, types that are unknown, texts that are not UTF-8, keys and tensors that come twice,
 * offsets that are not aligned or lie outside the file.
 */
export async function readGgufHeader(source: ByteSource): Promise<GgufHeader> {
  for (let length = FIRST_READ; ; length *= 2) {
    const end = Math.min(length, source.size);
    const bytes = await source.read(0, end);
    try {
      return decodeGgufHeader(source.name, bytes, source.size);
    } catch (error) {
      if (!(error instanceof EndOfBytes) || end === source.size) throw error;
      if (length >= MOST_HEADER_BYTES) throw error.cursor.problem(`a header of over ${length} bytes`, 'at most 64 MiB');
    }
  }
}

/** The header in the first bytes of a file of `size` bytes. Throws ProblemError as `readGgufHeader` does, and RanOver where `bytes` end before it. */
export function decodeGgufHeader(file: string, bytes: Uint8Array, size = bytes.length): GgufHeader {
  const cursor = new Cursor(file, bytes, size);
  cursor.place = 'magic';
  const magic = cursor.u32();
  if (magic !== MAGIC) throw cursor.problem(hex(magic), 'the letters GGUF');
  cursor.place = 'version';
  const version = cursor.u32();
  if (!VERSIONS.includes(version)) throw cursor.problem(versionShown(version), '2 or 3, little-endian');
  cursor.place = 'tensor count';
  const tensorCount = cursor.count(MOST_TENSORS);
  cursor.place = 'key count';
  const keyCount = cursor.count(MOST_KEYS);
  const { metadata, places } = readMetadata(cursor, keyCount);
  const tensors = readTensors(cursor, tensorCount);
  const alignment = alignmentOf(cursor, metadata);
  const dataStart = Math.ceil(cursor.at / alignment) * alignment;
  checkOffsets(cursor, tensors, { alignment, dataStart, size });
  return { file, version, metadata, places, tensors, alignment, dataStart, size };
}

const hex = (number: number) => `0x${number.toString(16).padStart(8, '0')}`;

function versionShown(version: number): string {
  const turned = version >>> 24;
  return VERSIONS.includes(turned) && (version & 0xffffff) === 0 ? `version ${turned}, big-endian` : String(version);
}

function readMetadata(cursor: Cursor, keys: number): Pick<GgufHeader, 'metadata' | 'places'> {
  const metadata = new Map<string, GgufValue>();
  const places = new Map<string, readonly [number, number]>();
  for (let i = 0; i < keys; i++) {
    const begin = cursor.at;
    cursor.place = `key ${i} of ${keys}`;
    const key = cursor.string(MOST_KEY_BYTES);
    if (key === '') throw cursor.problem('a key without a name', 'a name');
    if (metadata.has(key)) throw cursor.problem(`the key ${key} twice`, 'every key once');
    cursor.place = key;
    metadata.set(key, readValue(cursor, cursor.u32(), 0));
    places.set(key, [begin, cursor.at]);
  }
  return { metadata, places };
}

/** A value of the type of this number. */
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
      return cursor.string(MOST_STRING_BYTES);
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
  if (depth >= MOST_DEPTH) throw cursor.problem(`lists in lists, over ${MOST_DEPTH} deep`, 'a list of values');
  const type = cursor.u32();
  const length = cursor.count(Math.min(MOST_ELEMENTS - cursor.elements, cursor.size - cursor.at)); // every element has a byte at least
  cursor.elements += length;
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
    const name = cursor.string(MOST_NAME_BYTES);
    if (name === '') throw cursor.problem('a tensor without a name', 'a name');
    if (tensors.has(name)) throw cursor.problem(`the tensor ${name} twice`, 'every tensor once');
    cursor.place = name;
    const dimensions = cursor.u32();
    if (dimensions < 1 || dimensions > MOST_DIMENSIONS) throw cursor.problem(`${dimensions} dimensions`, '1 to 4');
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
