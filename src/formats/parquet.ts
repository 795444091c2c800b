import type { FileMetaData } from 'hyparquet';
import type { SliceableFile } from './lines.ts';

/** The rows of a Parquet file, as objects with a key for each column. */
export interface ParquetRows {
  readonly rowGroups: readonly (readonly [rowStart: number, rowEnd: number])[]; // each is read at once
  readonly wholeNumbers: ReadonlySet<string>; // columns that the file declares as integers
  readonly read: (rowStart: number, rowEnd: number) => Promise<readonly Readonly<Record<string, unknown>>[]>;
}

const MAX_ROW_GROUP_BYTES = 256 * 2 ** 20;
const MAX_ROWS = 10_000_000;

/**
 * Opens a Parquet file (https://parquet.apache.org/docs/file-format) by reading its footer. The decompressor for
 * Snappy, the default of pandas and pyarrow, is always loaded; those for gzip, zstd, brotli and LZ4 only if a file
 * needs them. Throws an Error whose message is a sentence if the file is not Parquet or is damaged, or if it uses LZO,
 * which is not supported.
 */
export async function openParquet(file: SliceableFile): Promise<ParquetRows> {
  const { parquetMetadataAsync, parquetReadObjects, parquetSchema, snappyUncompress } = await import('hyparquet');
  const buffer = {
    byteLength: file.size,
    slice: (from: number, to = file.size) => {
      // a damaged footer may point anywhere
      if (!(from >= 0 && from <= to && to <= file.size)) throw new Error(`bytes ${from} to ${to} of ${file.size}`);
      return file.slice(from, to).arrayBuffer();
    },
  };
  const metadata = await withReadableErrors(() => parquetMetadataAsync(buffer), 'a damaged footer');
  const snappy = (bytes: Uint8Array, size: number) => {
    const output = new Uint8Array(size);
    snappyUncompress(bytes, output);
    return output;
  };
  const compressors = await decompressorsFor(metadata, snappy);
  let rowCount = 0;
  const rowGroups = metadata.row_groups.map(({ num_rows, total_byte_size }) => {
    const rows = Number(num_rows);
    if (!(rows >= 0 && rowCount + rows <= MAX_ROWS))
      throw new Error(`${rows} rows after ${rowCount}, and the limit is ${MAX_ROWS}`);
    if (!(Number(total_byte_size) <= MAX_ROW_GROUP_BYTES)) {
      throw new Error(
        `a row group of ${Number(total_byte_size)} bytes, and the limit is ${MAX_ROW_GROUP_BYTES}: write smaller row groups`,
      );
    }
    rowCount += rows;
    return [rowCount - rows, rowCount] as const;
  });
  const columns = await withReadableErrors(() => Promise.resolve(parquetSchema(metadata).children), 'a damaged footer');
  const integerColumns = columns.filter(({ element: { type, converted_type: convertedType } }) => /^INT(?:32|64)$/.test(type ?? '') && convertedType !== 'DECIMAL'); // prettier-ignore
  return {
    rowGroups,
    wholeNumbers: new Set(integerColumns.map(({ element }) => element.name)),
    read: async (rowStart, rowEnd) => {
      const rows = await withReadableErrors(
        () => parquetReadObjects({ file: buffer, metadata, rowStart, rowEnd, compressors }),
        'damaged pages',
      );
      return rows.map((row) => jsonValue(row) as Readonly<Record<string, unknown>>);
    },
  };
}

type Decompress = (bytes: Uint8Array, size: number) => Uint8Array;

/** Keyed by codec name. Throws an Error whose message is a sentence if a codec is not supported. */
async function decompressorsFor(
  metadata: FileMetaData,
  snappy: Decompress,
): Promise<Readonly<Record<string, Decompress>>> {
  const codecs = new Set(
    metadata.row_groups.flatMap(({ columns }) => columns.flatMap(({ meta_data }) => meta_data?.codec ?? [])),
  );
  codecs.delete('UNCOMPRESSED');
  const available = new Map<string, Decompress>([['SNAPPY', snappy]]);
  if ([...codecs].some((name) => !available.has(name))) {
    const decoders = await import('hyparquet-compressors');
    available.set('GZIP', decoders.decompressGzip).set('BROTLI', decoders.decompressBrotli);
    available.set('LZ4', decoders.decompressLz4).set('LZ4_RAW', decoders.decompressLz4Raw);
    // decompress into a buffer of the size in the page's header, because the frame could claim any other size
    available.set('ZSTD', (bytes, size) => decoders.decompressZstd(bytes, new Uint8Array(size)));
  }
  const decompressors = [...codecs].map((name) => {
    const decompress = available.get(name);
    if (!decompress) {
      const supported = [...available.keys()].filter((each) => each !== 'LZ4_RAW').join(', ');
      throw new Error(`Parquet: compressed by ${name}. Write the file with one of ${supported}.`);
    }
    return [name, withSizeLimit(decompress)] as const;
  });
  return Object.fromEntries(decompressors);
}

/** Limits the output size of a decompressor, because a page's header may claim any size. */
function withSizeLimit(decompress: Decompress): Decompress {
  return (bytes, size) => {
    if (!(size >= 0 && size <= MAX_ROW_GROUP_BYTES))
      throw new Error(`a page of ${size} bytes, and the limit is ${MAX_ROW_GROUP_BYTES}`);
    return decompress(bytes, size);
  };
}

/** The errors become sentences. If the parser crashed instead of giving a message of its own, the message is `fallback`. */
async function withReadableErrors<T>(read: () => Promise<T>, fallback: string): Promise<T> {
  try {
    return await read();
  } catch (error) {
    const hasOwnMessage =
      error instanceof Error && error.constructor === Error && !/undefined|null/.test(error.message);
    throw new Error(`Parquet: ${hasOwnMessage ? error.message : fallback}`, { cause: error });
  }
}

/** As JSON would have it: 64-bit whole numbers beyond 2^53 become text with all digits, dates text, and bytes a list of numbers. */
function jsonValue(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (value === undefined) return null;
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (ArrayBuffer.isView(value)) return Array.from(value as Uint8Array, Number);
  if (Array.isArray(value)) return value.map(jsonValue);
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, jsonValue(entry)]));
}
