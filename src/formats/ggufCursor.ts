import { ProblemError } from '../base/problem.ts';

const REMEDY = 'Choose a GGUF file, whole, as it was published.';

/** Thrown when the loaded bytes end before the value does, although the file goes on. */
export class EndOfBytes extends Error {
  override readonly name = 'EndOfBytes';
  readonly cursor: Cursor;
  constructor(cursor: Cursor) {
    super(`${cursor.file}: ${cursor.place}: the bytes given end here. Give more of the file.`);
    this.cursor = cursor;
  }
}

/**
 * Reads little-endian values one after the other. Throws ProblemError past the file's end, and EndOfBytes past the
 * loaded bytes.
 */
export class Cursor {
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
