import type { BlockFormat } from './blocks/blockFormat.ts';
import { BF16, F16 } from './blocks/floats.ts';
import { field, isRecord, type JsonRecord, readJson } from './jsonFile.ts';
import { FormatError } from './formatProblem.ts';

/** A tensor of a safetensors file, row-major: float32, 32-bit integers or bytes. */
export interface SafeTensor {
  readonly shape: readonly number[];
  readonly values: Float32Array | Int32Array | Uint8Array;
}

/** A tensor to be written as F16, by the bits of its numbers. */
export interface HalfTensor {
  readonly shape: readonly number[];
  readonly values: Uint16Array;
}

/** What a safetensors file holds. */
export interface Safetensors {
  readonly tensors: ReadonlyMap<string, SafeTensor>;
  readonly metadata: Readonly<Record<string, string>>;
  readonly dtypes: ReadonlyMap<string, string>; // as the file has them: F16 and BF16 are float32 above, I64 is int32
}

/** Files start with the header's length in this many bytes; the header is padded to it with spaces. */
export const LENGTH_BYTES = 8;
/** The header of a hundred thousand tensors has some 12 MB. The format would allow 100 MB, which takes a minute and gigabytes to read. */
const MOST_HEADER_BYTES = 1 << 24;

const REMEDY = 'Choose a file that was saved as safetensors.';

/** Bytes of a number of each type that is read. */
const WIDTHS: Readonly<Record<string, number>> = { F32: 4, F16: 2, BF16: 2, I64: 8, I32: 4, U8: 1 };

/**
 * A safetensors file (https://huggingface.co/docs/safetensors): eight bytes of header length, a JSON header, the numbers
 * little-endian in the order given. Throws when a tensor's shape and size disagree.
 */
export function encodeSafetensors(
  tensors: ReadonlyMap<string, SafeTensor | HalfTensor>,
  metadata: Readonly<Record<string, string>> = {},
): ArrayBuffer {
  const entries = Array.from(tensors, ([name, { shape, values }]) => {
    const size = product(shape);
    if (values.length !== size) {
      throw new Error(
        `encodeSafetensors: ${name} has ${values.length} numbers; want ${size} = [${shape.join(',')}]. Give the shape it has.`,
      );
    }
    return { name, dtype: dtypeOf(values), shape, bytes: values.byteLength };
  });
  const header = safetensorsHeader(entries, metadata);
  const bytes = new Uint8Array(header.length + entries.reduce((sum, entry) => sum + entry.bytes, 0));
  bytes.set(header);
  let at = header.length;
  for (const { values } of tensors.values()) {
    // every machine with WebAssembly is little-endian inside
    bytes.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), at);
    at += values.byteLength;
  }
  return bytes.buffer;
}

/** A tensor as a header announces it. */
export interface Announced {
  readonly name: string;
  readonly dtype: string; // F32, F16, …
  readonly shape: readonly number[];
  readonly bytes: number;
}

/** All of a safetensors file but its numbers, which follow in this order without a gap. */
export function safetensorsHeader(
  tensors: readonly Announced[],
  metadata: Readonly<Record<string, string>> = {},
): Uint8Array<ArrayBuffer> {
  const entries: [string, unknown][] = Object.keys(metadata).length > 0 ? [['__metadata__', metadata]] : [];
  let end = 0;
  for (const { name, dtype, shape, bytes } of tensors) {
    entries.push([name, { dtype, shape, data_offsets: [end, end + bytes] }]);
    end += bytes;
  }
  const json = new TextEncoder().encode(JSON.stringify(Object.fromEntries(entries)));
  const length = Math.ceil(json.length / LENGTH_BYTES) * LENGTH_BYTES;
  const header = new Uint8Array(LENGTH_BYTES + length);
  new DataView(header.buffer).setBigUint64(0, BigInt(length), true);
  header.fill(0x20, LENGTH_BYTES);
  header.set(json, LENGTH_BYTES);
  return header;
}

function dtypeOf(values: SafeTensor['values'] | Uint16Array): string {
  if (values instanceof Uint16Array) return 'F16';
  if (values instanceof Float32Array) return 'F32';
  return values instanceof Int32Array ? 'I32' : 'U8';
}

/**
 * Reads a safetensors file of F32, F16, BF16 (both widened to float32, exactly), I32, I64 (where each fits 32 bits) and U8 tensors.
 * Throws FormatError, with `name` for the file, on any other bytes: a header that is cut off or has a name twice, tensors that overlap, leave
 * holes or bytes over, or whose size is not that of their shape.
 */
export function decodeSafetensors(file: ArrayBuffer | Uint8Array, name = 'safetensors'): Safetensors {
  const bytes = file instanceof Uint8Array ? file : new Uint8Array(file);
  const start = dataStart(name, bytes.subarray(0, LENGTH_BYTES), bytes.length);
  const { places, metadata } = readHeader(name, bytes.subarray(LENGTH_BYTES, start), bytes.length - start);
  return {
    tensors: new Map(places.map((place) => [place.key, readTensor(name, bytes, start, place)])),
    metadata,
    dtypes: new Map(places.map(({ key, dtype }) => [key, dtype])),
  };
}

/** Where the tensors' bytes begin in a file of `size` bytes, by its first eight. Throws FormatError where that is not in the file. */
export function dataStart(name: string, first: Uint8Array, size: number): number {
  if (first.length < LENGTH_BYTES) {
    throw malformed(name, '', `${first.length} bytes`, 'at least 8, which hold the length of its header');
  }
  const length = Number(new DataView(first.buffer, first.byteOffset).getBigUint64(0, true));
  const start = LENGTH_BYTES + length;
  if (length > MOST_HEADER_BYTES || start > size) {
    const want = start > size ? 'a header that fits in the file' : `at most ${MOST_HEADER_BYTES} bytes`;
    throw malformed(name, '', `a header of ${length} bytes in a file of ${size}`, want);
  }
  return start;
}

/** The header of a file with `dataSize` bytes after it. Throws FormatError unless its tensors lie side by side over all of them. */
export function readHeader(
  name: string,
  json: Uint8Array,
  dataSize: number,
): { readonly places: readonly Place[]; readonly metadata: Readonly<Record<string, string>> } {
  const header = readJson(name, json, 'header', REMEDY);
  if (!isRecord(header)) {
    throw malformed(name, '', 'a header that is not an object', 'an object with a key for each tensor');
  }
  const entries = Object.entries(header).filter(([key]) => key !== '__metadata__');
  const places = entries.map(([key, entry]) => readPlace(name, key, entry));
  checkCover(name, places, dataSize);
  return { places, metadata: readMetadata(name, field(header, '__metadata__')) };
}

/** What the header says of a tensor. */
export interface Place {
  readonly key: string;
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly begin: number; // bytes from where the tensors' bytes begin
  readonly end: number;
}

function readPlace(file: string, key: string, entry: unknown): Place {
  const record: JsonRecord = isRecord(entry) ? entry : {};
  const [dtype, shape, offsets] = [field(record, 'dtype'), field(record, 'shape'), field(record, 'data_offsets')];
  if (!isSizes(shape) || !isSizes(offsets) || offsets.length !== 2) {
    throw malformed(
      file,
      key,
      `${key} without a shape and two offsets`,
      '{"dtype", "shape", "data_offsets": [begin, end]}',
    );
  }
  const width = typeof dtype === 'string' && Object.hasOwn(WIDTHS, dtype) ? WIDTHS[dtype] : undefined;
  if (typeof dtype !== 'string' || width === undefined) {
    const found = typeof dtype === 'string' ? dtype : 'none';
    throw malformed(
      file,
      key,
      `${key} of type ${found}`,
      `${Object.keys(WIDTHS).join(', ')}; save it as float32 first`,
    );
  }
  const [begin = 0, end = 0] = offsets;
  if (end - begin !== product(shape) * width) {
    const bytes = product(shape) * width;
    throw malformed(file, key, `${key} [${shape.join(',')}] at bytes ${begin} to ${end}`, `${bytes} bytes of ${dtype}`);
  }
  return { key, dtype, shape, begin, end };
}

/** Throws unless the tensors lie side by side over all `size` bytes. */
function checkCover(file: string, places: readonly Place[], size: number): void {
  let covered = 0;
  for (const { key, shape, begin, end } of places.toSorted((a, b) => a.begin - b.begin || a.end - b.end)) {
    if (end > size) {
      const got = `${key} [${shape.join(',')}] at bytes ${begin} to ${end} of ${size}`;
      throw malformed(file, key, got, `${end - begin} bytes inside the file; it may have been cut off`);
    }
    if (begin !== covered) {
      const got = `${begin < covered ? 'an overlap' : 'a hole'}: ${key} begins at byte ${begin}`;
      throw malformed(file, key, got, `tensors side by side; the one before it ends at byte ${covered}`);
    }
    covered = end;
  }
  if (covered !== size) {
    throw malformed(file, '', `${size - covered} bytes after the last tensor`, 'none; two files may have been joined');
  }
}

function readTensor(file: string, bytes: Uint8Array, start: number, place: Place): SafeTensor {
  const { key, dtype, shape } = place;
  const { buffer } = bytes.slice(start + place.begin, start + place.end);
  switch (dtype) {
    case 'F32':
      return { shape, values: new Float32Array(buffer) };
    case 'F16':
      return { shape, values: widened(F16, buffer) };
    case 'BF16':
      return { shape, values: widened(BF16, buffer) };
    case 'I32':
      return { shape, values: new Int32Array(buffer) };
    case 'U8':
      return { shape, values: new Uint8Array(buffer) };
  }
  const long = new BigInt64Array(buffer);
  const beyond = long.find((value) => value !== BigInt.asIntN(32, value));
  if (beyond !== undefined) {
    throw malformed(file, key, `${key} with the number ${beyond}`, 'whole numbers of 32 bits');
  }
  return { shape, values: Int32Array.from(long, Number) };
}

function readMetadata(file: string, entry: unknown): Record<string, string> {
  if (entry === undefined) return {};
  if (!isRecord(entry)) throw malformed(file, '', '__metadata__ that is not an object', 'texts by name');
  return Object.fromEntries(Object.entries(entry).map(([key, value]) => [key, String(value)]));
}

const product = (shape: readonly number[]) => shape.reduce((a, b) => a * b, 1);

const isSizes = (x: unknown): x is number[] =>
  Array.isArray(x) && x.every((n) => typeof n === 'number' && Number.isSafeInteger(n) && n >= 0);

const malformed = (file: string, place: string, got: string, want: string) =>
  new FormatError([{ file, place, got, want, remedy: REMEDY }]);

function widened(format: BlockFormat, buffer: ArrayBuffer): Float32Array {
  const out = new Float32Array(buffer.byteLength / format.bytes);
  format.widen(out, new Uint8Array(buffer));
  return out;
}
