import type { FileMetaData } from 'hyparquet';
import type { Slices } from './lines.ts';

/** The rows of a Parquet file, as objects by column. */
export interface ParquetRows {
  readonly blocks: readonly (readonly [from: number, to: number])[]; // row groups: what is read at once
  readonly wholeNumbers: ReadonlySet<string>; // columns that the file declares as such
  readonly read: (from: number, to: number) => Promise<readonly Readonly<Record<string, unknown>>[]>;
}

const MOST_BLOCK_BYTES = 256 * 2 ** 20;
const MOST_ROWS = 10_000_000;

/**
 * Opens a Parquet file (https://parquet.apache.org/docs/file-format) by its footer. Snappy, which pandas and pyarrow use unless told
 * otherwise, is read at once; gzip, zstd, brotli and LZ4 are fetched when a file has them. Throws a sentence for anything that is no
 * such file, and for LZO, which nothing here reads.
 */
export async function openParquet(file: Slices): Promise<ParquetRows> {
  const { parquetMetadataAsync, parquetReadObjects, parquetSchema, snappyUncompress } = await import('hyparquet');
  const buffer = {
    byteLength: file.size,
    slice: (from: number, to = file.size) => {
      // a footer may name any bytes
      if (!(from >= 0 && from <= to && to <= file.size)) throw new Error(`bytes ${from} to ${to} of ${file.size}`);
      return file.slice(from, to).arrayBuffer();
    },
  };
  const metadata = await told(() => parquetMetadataAsync(buffer), 'a damaged footer');
  const snappy = (bytes: Uint8Array, size: number) => {
    const output = new Uint8Array(size);
    snappyUncompress(bytes, output);
    return output;
  };
  const compressors = await unpackersOf(metadata, snappy);
  let at = 0;
  const blocks = metadata.row_groups.map(({ num_rows, total_byte_size }) => {
    const rows = Number(num_rows);
    if (!(rows >= 0 && at + rows <= MOST_ROWS))
      throw new Error(`${rows} rows after ${at}, and the limit is ${MOST_ROWS}`);
    if (!(Number(total_byte_size) <= MOST_BLOCK_BYTES)) {
      throw new Error(
        `a row group of ${Number(total_byte_size)} bytes, and the limit is ${MOST_BLOCK_BYTES}: write smaller row groups`,
      );
    }
    at += rows;
    return [at - rows, at] as const;
  });
  const columns = await told(() => Promise.resolve(parquetSchema(metadata).children), 'a damaged footer');
  const whole = columns.filter(({ element: { type, converted_type: of } }) => /^INT(?:32|64)$/.test(type ?? '') && of !== 'DECIMAL'); // prettier-ignore
  return {
    blocks,
    wholeNumbers: new Set(whole.map(({ element }) => element.name)),
    read: async (rowStart, rowEnd) => {
      const rows = await told(
        () => parquetReadObjects({ file: buffer, metadata, rowStart, rowEnd, compressors }),
        'damaged pages',
      );
      return rows.map((row) => plain(row) as Readonly<Record<string, unknown>>);
    },
  };
}

type Unpack = (bytes: Uint8Array, size: number) => Uint8Array;

/** What unpacks the pages of a file, by the names that its columns give. Throws a sentence for a name that nothing here unpacks. */
async function unpackersOf(metadata: FileMetaData, snappy: Unpack): Promise<Readonly<Record<string, Unpack>>> {
  const named = new Set(
    metadata.row_groups.flatMap(({ columns }) => columns.flatMap(({ meta_data }) => meta_data?.codec ?? [])),
  );
  named.delete('UNCOMPRESSED');
  const known = new Map<string, Unpack>([['SNAPPY', snappy]]);
  if ([...named].some((name) => !known.has(name))) {
    const others = await import('hyparquet-compressors');
    known.set('GZIP', others.decompressGzip).set('BROTLI', others.decompressBrotli);
    known.set('LZ4', others.decompressLz4).set('LZ4_RAW', others.decompressLz4Raw);
    // into room of the size that the page names: a frame may name any other
    known.set('ZSTD', (bytes, size) => others.decompressZstd(bytes, new Uint8Array(size)));
  }
  const unpackers = [...named].map((name) => {
    const unpack = known.get(name);
    if (!unpack) {
      const all = [...known.keys()].filter((each) => each !== 'LZ4_RAW').join(', ');
      throw new Error(`Parquet: compressed by ${name}. Write the file with one of ${all}.`);
    }
    return [name, bounded(unpack)] as const;
  });
  return Object.fromEntries(unpackers);
}

/** A page's head may ask for any room. */
function bounded(unpack: Unpack): Unpack {
  return (bytes, size) => {
    if (!(size >= 0 && size <= MOST_BLOCK_BYTES))
      throw new Error(`a page of ${size} bytes, and the limit is ${MOST_BLOCK_BYTES}`);
    return unpack(bytes, size);
  };
}

/** What the parser says of a file, as a sentence: where it stumbles instead of saying, the file is damaged. */
async function told<T>(read: () => Promise<T>, otherwise: string): Promise<T> {
  try {
    return await read();
  } catch (error) {
    const says = error instanceof Error && error.constructor === Error && !/undefined|null/.test(error.message);
    throw new Error(`Parquet: ${says ? error.message : otherwise}`, { cause: error });
  }
}

/** Whole numbers of 64 bits as numbers, or beyond 2^53 as texts of all their digits; dates and bytes as text, as JSON would have them. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (value === undefined) return null;
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (ArrayBuffer.isView(value)) return Array.from(value as Uint8Array, Number);
  if (Array.isArray(value)) return value.map(plain);
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, plain(entry)]));
}
