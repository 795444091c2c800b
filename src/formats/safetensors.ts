import type { BlockFormat } from './blocks/blockFormat.ts';
import { BF16, F16 } from './blocks/floats.ts';
import { field, isRecord, type JsonRecord } from '../base/jsonRecord.ts';
import { readJson } from './jsonFile.ts';
import { ProblemError } from '../base/problem.ts';
import { checkedBytes, type StreamedFile, type StreamedTensor } from './byteSource.ts';

/** A tensor of a safetensors file, row-major: float32, 32-bit integers or bytes. */
export interface SafeTensor {
  readonly shape: readonly number[];
  readonly values: Float32Array | Int32Array | Uint8Array;
}

/** A tensor to be written as F16. Each entry of `values` has the 16 bits of one number. */
export interface Float16Tensor {
  readonly shape: readonly number[];
  readonly values: Uint16Array;
}

export interface Safetensors {
  readonly tensors: ReadonlyMap<string, SafeTensor>;
  readonly metadata: Readonly<Record<string, string>>;
  /** Number types in the file. In `tensors`, F16 and BF16 have become float32, and I64 int32. */
  readonly dtypes: ReadonlyMap<string, string>;
}

/** A file starts with its header's length in this many bytes. The header is padded with spaces to a multiple of them. */
export const LENGTH_BYTES = 8;
/** A hundred thousand tensors need about 12 MB. Reading the 100 MB that the format allows takes a minute and gigabytes of memory. */
const MAX_HEADER_BYTES = 1 << 24;

const REMEDY = 'Choose a file that was saved as safetensors.';

/** Bytes per number for each type that can be read. */
const BYTES_BY_DTYPE: Readonly<Record<string, number>> = { F32: 4, F16: 2, BF16: 2, I64: 8, I32: 4, U8: 1 };

/**
 * Writes a safetensors file (https://huggingface.co/docs/safetensors): the header's length in eight bytes, a JSON
 * header, then the numbers, little-endian, in the order of `tensors`. Throws if a tensor's shape and size disagree.
 */
export function encodeSafetensors(
  tensors: ReadonlyMap<string, SafeTensor | Float16Tensor>,
  metadata: Readonly<Record<string, string>> = {},
): ArrayBuffer {
  const entries = Array.from(tensors, ([name, { shape, values }]) => {
    const size = product(shape);
    if (values.length !== size) {
      throw new Error(
        `encodeSafetensors: ${name} has ${values.length} numbers, and its shape needs ${size} = [${shape.join(',')}]. Give the shape it has.`,
      );
    }
    return { name, dtype: dtypeOf(values), shape, bytes: values.byteLength };
  });
  const header = safetensorsHeader(entries, metadata);
  const bytes = new Uint8Array(header.length + entries.reduce((sum, entry) => sum + entry.bytes, 0));
  bytes.set(header);
  let at = header.length;
  for (const { values } of tensors.values()) {
    // typed arrays have the machine's byte order, and every machine with WebAssembly is little-endian
    bytes.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), at);
    at += values.byteLength;
  }
  return bytes.buffer;
}

export interface TensorEntry {
  readonly name: string;
  readonly dtype: string; // F32, F16, …
  readonly shape: readonly number[];
  readonly bytes: number;
}

/** Everything before the file's numbers, which the caller writes after it, in this order and without gaps. */
export function safetensorsHeader(
  tensors: readonly TensorEntry[],
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
 * Reads a safetensors file with tensors of type F32, F16, BF16, I32, I64 and U8. F16 and BF16 become float32 exactly;
 * I64 becomes int32, and every number must fit. Throws ProblemError, which calls the file `name`, if the file is
 * anything else: if the header is cut off or has a name twice, if tensors overlap or leave bytes unused, or if a size
 * does not match its shape.
 */
export function decodeSafetensors(file: ArrayBuffer | Uint8Array, name = 'safetensors'): Safetensors {
  const bytes = file instanceof Uint8Array ? file : new Uint8Array(file);
  const start = tensorsOffset(name, bytes.subarray(0, LENGTH_BYTES), bytes.length);
  const { entries, metadata } = readHeader(name, bytes.subarray(LENGTH_BYTES, start), bytes.length - start);
  return {
    tensors: new Map(entries.map((entry) => [entry.key, readTensor(name, bytes, start, entry)])),
    metadata,
    dtypes: new Map(entries.map(({ key, dtype }) => [key, dtype])),
  };
}

/** `size` is the file's bytes. Throws ProblemError if the offset is past its end, or the header is too long. */
export function tensorsOffset(name: string, firstBytes: Uint8Array, size: number): number {
  if (firstBytes.length < LENGTH_BYTES) {
    throw malformed(name, '', `${firstBytes.length} bytes`, 'at least 8, which hold the length of its header');
  }
  const length = Number(new DataView(firstBytes.buffer, firstBytes.byteOffset).getBigUint64(0, true));
  const start = LENGTH_BYTES + length;
  if (length > MAX_HEADER_BYTES || start > size) {
    const want = start > size ? 'a header that fits in the file' : `at most ${MAX_HEADER_BYTES} bytes`;
    throw malformed(name, '', `a header of ${length} bytes in a file of ${size}`, want);
  }
  return start;
}

/** `dataSize` bytes follow the header. Throws ProblemError unless the tensors fill exactly these, without gaps or overlaps. */
export function readHeader(
  name: string,
  json: Uint8Array,
  dataSize: number,
): { readonly entries: readonly HeaderEntry[]; readonly metadata: Readonly<Record<string, string>> } {
  const header = readJson(name, json, 'header', REMEDY);
  if (!isRecord(header)) {
    throw malformed(name, '', 'a header that is not an object', 'an object with a key for each tensor');
  }
  const entries = Object.entries(header).filter(([key]) => key !== '__metadata__');
  const tensorEntries = entries.map(([key, entry]) => readEntry(name, key, entry));
  checkCoverage(name, tensorEntries, dataSize);
  return { entries: tensorEntries, metadata: readMetadata(name, field(header, '__metadata__')) };
}

export interface HeaderEntry {
  readonly key: string;
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly begin: number; // offset of its first byte, counted from the first tensor byte of the file
  readonly end: number; // offset after its last byte
}

function readEntry(file: string, key: string, entry: unknown): HeaderEntry {
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
  const width = typeof dtype === 'string' && Object.hasOwn(BYTES_BY_DTYPE, dtype) ? BYTES_BY_DTYPE[dtype] : undefined;
  if (typeof dtype !== 'string' || width === undefined) {
    const found = typeof dtype === 'string' ? dtype : 'none';
    throw malformed(
      file,
      key,
      `${key} of type ${found}`,
      `${Object.keys(BYTES_BY_DTYPE).join(', ')}; save it as float32 first`,
    );
  }
  const [begin = 0, end = 0] = offsets;
  if (end - begin !== product(shape) * width) {
    const bytes = product(shape) * width;
    throw malformed(file, key, `${key} [${shape.join(',')}] at bytes ${begin} to ${end}`, `${bytes} bytes of ${dtype}`);
  }
  return { key, dtype, shape, begin, end };
}

/** Throws ProblemError unless the tensors fill exactly `size` bytes, without gaps or overlaps. */
function checkCoverage(file: string, entries: readonly HeaderEntry[], size: number): void {
  let covered = 0;
  for (const { key, shape, begin, end } of entries.toSorted((a, b) => a.begin - b.begin || a.end - b.end)) {
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

function readTensor(file: string, bytes: Uint8Array, start: number, entry: HeaderEntry): SafeTensor {
  const { key, dtype, shape } = entry;
  const { buffer } = bytes.slice(start + entry.begin, start + entry.end);
  switch (dtype) {
    case 'F32':
      return { shape, values: new Float32Array(buffer) };
    case 'F16':
      return { shape, values: decodeFloats(F16, buffer) };
    case 'BF16':
      return { shape, values: decodeFloats(BF16, buffer) };
    case 'I32':
      return { shape, values: new Int32Array(buffer) };
    case 'U8':
      return { shape, values: new Uint8Array(buffer) };
  }
  const long = new BigInt64Array(buffer);
  const outOfRange = long.find((value) => value !== BigInt.asIntN(32, value));
  if (outOfRange !== undefined) {
    throw malformed(file, key, `${key} with the number ${outOfRange}`, 'whole numbers of 32 bits');
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
  new ProblemError([{ file, place, got, want, remedy: REMEDY }]);

function decodeFloats(format: BlockFormat, buffer: ArrayBuffer): Float32Array {
  const out = new Float32Array(buffer.byteLength / format.blockBytes);
  format.toFloat32(out, new Uint8Array(buffer));
  return out;
}

/** Tensors are read one after the other while it is written. It has the metadata that Transformers requires. */
export function safetensorsStream(
  name: string,
  tensors: readonly (StreamedTensor & { readonly dtype: string })[],
): StreamedFile {
  const header = safetensorsHeader(tensors, { format: 'pt' });
  const bytes = tensors.reduce((sum, tensor) => sum + tensor.bytes, header.length);
  const pieces = async function* () {
    yield header;
    for (const tensor of tensors) yield await checkedBytes(tensor);
  };
  return { name, bytes, pieces };
}
