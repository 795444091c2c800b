/** A tensor of a safetensors file: float32 or 32-bit integers, row-major. */
export interface SafeTensor {
  readonly shape: readonly number[];
  readonly values: Float32Array | Int32Array;
}

/** What a safetensors file holds. */
export interface Safetensors {
  readonly tensors: ReadonlyMap<string, SafeTensor>;
  readonly metadata: Readonly<Record<string, string>>;
}

/** Files start with the header's length in this many bytes; the header is padded to it with spaces. */
const LENGTH_BYTES = 8;
const NUMBER_BYTES = 4;
/** The format's own bound on the header. */
const MOST_HEADER_BYTES = 100_000_000;

/**
 * A safetensors file (https://huggingface.co/docs/safetensors): eight bytes of header length, a JSON header, the numbers
 * little-endian in the order given. Throws when a tensor's shape and size disagree.
 */
export function encodeSafetensors(
  tensors: ReadonlyMap<string, SafeTensor>,
  metadata: Readonly<Record<string, string>> = {},
): ArrayBuffer {
  const header: Record<string, unknown> = Object.keys(metadata).length > 0 ? { __metadata__: metadata } : {};
  let end = 0;
  for (const [name, { shape, values }] of tensors) {
    const size = product(shape);
    if (values.length !== size) {
      throw new Error(
        `encodeSafetensors: ${name} has ${values.length} numbers; want ${size} = [${shape.join(',')}]. Give the shape it has.`,
      );
    }
    const begin = end;
    end += size * NUMBER_BYTES;
    header[name] = { dtype: values instanceof Int32Array ? 'I32' : 'F32', shape, data_offsets: [begin, end] };
  }
  const json = new TextEncoder().encode(JSON.stringify(header));
  const length = Math.ceil(json.length / LENGTH_BYTES) * LENGTH_BYTES;
  const file = new ArrayBuffer(LENGTH_BYTES + length + end);
  const bytes = new Uint8Array(file);
  const view = new DataView(file);
  view.setBigUint64(0, BigInt(length), true);
  bytes.fill(0x20, LENGTH_BYTES, LENGTH_BYTES + length);
  bytes.set(json, LENGTH_BYTES);
  let at = LENGTH_BYTES + length;
  for (const { values } of tensors.values()) {
    const integers = values instanceof Int32Array;
    for (let i = 0; i < values.length; i++, at += NUMBER_BYTES) {
      if (integers) view.setInt32(at, values[i]!, true);
      else view.setFloat32(at, values[i]!, true);
    }
  }
  return file;
}

/** Reads a safetensors file of F32 and I32 tensors. Throws a sentence saying what is wrong with any other bytes. */
export function decodeSafetensors(file: ArrayBuffer): Safetensors {
  const view = new DataView(file);
  if (file.byteLength < LENGTH_BYTES) {
    throw malformed(`${file.byteLength} bytes`, 'at least 8, which hold the length of its header');
  }
  const length = Number(view.getBigUint64(0, true));
  const start = LENGTH_BYTES + length;
  if (length > MOST_HEADER_BYTES || start > file.byteLength) {
    throw malformed(`a header of ${length} bytes in a file of ${file.byteLength}`, 'a header that fits in the file');
  }
  const header = parseHeader(new TextDecoder().decode(new Uint8Array(file, LENGTH_BYTES, length)));
  const tensors = new Map<string, SafeTensor>();
  let metadata: Record<string, string> = {};
  for (const [name, entry] of Object.entries(header)) {
    if (name === '__metadata__') metadata = readMetadata(entry);
    else tensors.set(name, readTensor(view, start, name, entry));
  }
  return { tensors, metadata };
}

function parseHeader(text: string): Record<string, unknown> {
  let header: unknown;
  try {
    header = JSON.parse(text);
  } catch {
    throw malformed('a header that is not JSON', 'JSON');
  }
  if (!isRecord(header)) throw malformed('a header that is not an object', 'an object with a key for each tensor');
  return header;
}

function readMetadata(entry: unknown): Record<string, string> {
  if (!isRecord(entry)) throw malformed('__metadata__ that is not an object', 'texts by name');
  return Object.fromEntries(Object.entries(entry).map(([key, value]) => [key, String(value)]));
}

function readTensor(view: DataView, start: number, name: string, entry: unknown): SafeTensor {
  const { dtype, shape, data_offsets: offsets } = isRecord(entry) ? entry : {};
  if (!isSizes(shape) || !isSizes(offsets) || offsets.length !== 2) {
    throw malformed(`${name} without a shape and two offsets`, '{"dtype", "shape", "data_offsets": [begin, end]}');
  }
  if (dtype !== 'F32' && dtype !== 'I32') {
    throw malformed(`${name} of type ${String(dtype)}`, 'F32 or I32; save it as float32 first');
  }
  const [begin = 0, end = 0] = offsets;
  const size = product(shape);
  if (end - begin !== size * NUMBER_BYTES || start + end > view.byteLength) {
    throw malformed(
      `${name} [${shape.join(',')}] at bytes ${begin} to ${end} of ${view.byteLength - start}`,
      `${size * NUMBER_BYTES} bytes inside the file; it may have been cut off`,
    );
  }
  const values = dtype === 'I32' ? new Int32Array(size) : new Float32Array(size);
  for (let i = 0, at = start + begin; i < size; i++, at += NUMBER_BYTES) {
    values[i] = dtype === 'I32' ? view.getInt32(at, true) : view.getFloat32(at, true);
  }
  return { shape, values };
}

const product = (shape: readonly number[]) => shape.reduce((a, b) => a * b, 1);

const isRecord = (x: unknown): x is Record<string, unknown> => typeof x === 'object' && x !== null && !Array.isArray(x);

const isSizes = (x: unknown): x is number[] =>
  Array.isArray(x) && x.every((n) => typeof n === 'number' && Number.isSafeInteger(n) && n >= 0);

const malformed = (got: string, want: string) =>
  new Error(`safetensors: got ${got}; want ${want}. Choose a file that was saved as safetensors.`);
