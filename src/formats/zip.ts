import { Inflate, zipSync, type Zippable } from 'fflate';
import { crc32 } from './crc.ts';
import { ProblemError } from '../base/problem.ts';

/** The contents of files, by name. */
export type Files = ReadonlyMap<string, Uint8Array>;

const MAX_FILES = 10_000;
/** Unpacked bytes that any archive may have, however small it is. */
const ALWAYS_ALLOWED_BYTES = 64e6;
/** Unpacked bytes that a larger archive may have, as a multiple of the archive's own bytes. */
const MAX_EXPANSION = 200;
/** Unpacked bytes that no archive may exceed. */
const MAX_TOTAL_BYTES = 2 ** 30;
/** Compressed bytes inflated at a time: at most about a thousand times as many come out before the size is checked. */
const INFLATED_SLICE_BYTES = 4096;

const SIGNATURE = { entry: 0x04034b50, directory: 0x02014b50, end: 0x06054b50 };
const RECORD_BYTES = { entry: 30, directory: 46, end: 22, comment: 0xffff };
const FLAG = { encrypted: 1, utf8: 0x800 };

/** Keeps their order; the same files always give the same bytes. Safetensors are stored uncompressed, as weights hardly compress. */
export function zipOf(files: Files): Uint8Array<ArrayBuffer> {
  const entries: Zippable = {};
  for (const [name, bytes] of files) {
    entries[name] = [bytes, { level: name.endsWith('.safetensors') ? 0 : 6, mtime: new Date(1980, 0, 1) }];
  }
  return zipSync(entries);
}

/**
 * The files of a zip archive. Entries for folders are left out, and so is the name of a folder that contains all files.
 * The whole directory is checked before anything is inflated. Throws ProblemError, with `archive` as the file's name,
 * if a name leads out of the archive or occurs twice, if a file is encrypted, uses an unsupported method, is cut off or
 * damaged, or if the unpacked size is over 1 GiB, or over both 64 MB and 200 times the archive's size.
 */
export function filesOfZip(archive: string, bytes: Uint8Array): Files {
  const entries = readDirectory(archive, bytes).filter(({ name }) => !name.startsWith('__MACOSX/'));
  const folder = commonFolder(entries);
  return new Map(
    entries
      .filter(({ name }) => !name.endsWith('/'))
      .map((entry) => [entry.name.slice(folder.length), inflated(archive, bytes, entry)]),
  );
}

interface Entry {
  readonly name: string;
  readonly stored: boolean; // not compressed
  readonly crc: number;
  readonly compressedSize: number; // bytes in the archive
  readonly size: number; // bytes when unpacked
  readonly headerOffset: number; // byte at which the file's own header begins
}

function readDirectory(archive: string, bytes: Uint8Array): readonly Entry[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = endRecordOffset(archive, view);
  const [count, start] = [view.getUint16(end + 10, true), view.getUint32(end + 16, true)];
  if (count > MAX_FILES) {
    throw zipProblem(archive, 'directory', `${count} files`, `at most ${MAX_FILES}`, 'Choose the folder of one run.');
  }
  const entries: Entry[] = [];
  const names = new Set<string>();
  let at = start;
  for (let i = 0; i < count; i++) {
    if (at + RECORD_BYTES.directory > end || view.getUint32(at, true) !== SIGNATURE.directory) {
      throw damagedZip(archive, `directory, file ${i + 1} of ${count}`, 'no entry where one should be');
    }
    const lengths = [28, 30, 32].map((offset) => view.getUint16(at + offset, true));
    const [nameLength = 0] = lengths;
    const next = at + RECORD_BYTES.directory + lengths.reduce((sum, length) => sum + length, 0);
    if (next > end)
      throw damagedZip(archive, `directory, file ${i + 1} of ${count}`, 'an entry that runs over its end');
    const entry = readEntry(
      archive,
      view,
      at,
      bytes.subarray(at + RECORD_BYTES.directory, at + RECORD_BYTES.directory + nameLength),
    );
    const lowerCaseName = entry.name.toLowerCase();
    if (names.has(lowerCaseName)) {
      throw zipProblem(archive, entry.name, 'the name twice', 'every name once', 'Pack the folder anew.');
    }
    names.add(lowerCaseName);
    entries.push(entry);
    at = next;
  }
  checkTotal(archive, entries, bytes.length);
  return entries;
}

/** The offset of the end record. It is searched backwards from the archive's end, because a comment may follow it. */
function endRecordOffset(archive: string, view: DataView): number {
  const lowest = Math.max(0, view.byteLength - RECORD_BYTES.end - RECORD_BYTES.comment);
  for (let at = view.byteLength - RECORD_BYTES.end; at >= lowest; at--) {
    if (view.getUint32(at, true) === SIGNATURE.end) return at;
  }
  throw damagedZip(archive, '', 'no end of an archive');
}

function readEntry(archive: string, view: DataView, at: number, nameBytes: Uint8Array): Entry {
  const [flags, method] = [view.getUint16(at + 8, true), view.getUint16(at + 10, true)];
  const name = new TextDecoder(flags & FLAG.utf8 ? 'utf-8' : 'latin1').decode(nameBytes);
  const fail = (got: string, want: string) =>
    zipProblem(archive, name, got, want, 'Pack the folder anew, as a plain zip archive.');
  const parts = name.split('/');
  const leadsOut = name.includes('\\') || /^(?:\/|[a-z]:)/i.test(name) || parts.includes('..') || parts.includes('.');
  if (name === '' || name.includes('\0') || leadsOut) {
    throw fail(`a name that leads elsewhere: ${name}`, 'a name inside the folder, with / between its parts');
  }
  if (flags & FLAG.encrypted) throw fail('an encrypted file', 'one without a password');
  if (method !== 0 && method !== 8) throw fail(`compression method ${method}`, '0 (stored) or 8 (deflate)');
  const [compressedSize, size] = [view.getUint32(at + 20, true), view.getUint32(at + 24, true)];
  const headerOffset = view.getUint32(at + 42, true);
  if ([compressedSize, size, headerOffset].includes(0xffffffff)) throw fail('a zip64 entry', 'files below 4 GB');
  if (method === 0 && compressedSize !== size) {
    throw damagedZip(archive, name, `${compressedSize} stored bytes of a file of ${size}`);
  }
  return { name, stored: method === 0, crc: view.getUint32(at + 16, true), compressedSize, size, headerOffset };
}

function checkTotal(archive: string, entries: readonly Entry[], archiveBytes: number): void {
  const total = entries.reduce((sum, { size }) => sum + size, 0);
  const limit = Math.min(MAX_TOTAL_BYTES, Math.max(ALWAYS_ALLOWED_BYTES, MAX_EXPANSION * archiveBytes));
  if (total <= limit) return;
  const got = `${total} bytes in an archive of ${archiveBytes}`;
  throw zipProblem(archive, '', got, `at most ${limit}`, 'Unpack it yourself if you trust it, and give the folder.');
}

/** `name/` if all files lie in one folder, otherwise ''. */
function commonFolder(entries: readonly Entry[]): string {
  const first = entries[0]?.name ?? '';
  const folder = first.slice(0, first.indexOf('/') + 1);
  return folder !== '' && entries.every(({ name }) => name.startsWith(folder)) ? folder : '';
}

function inflated(
  archive: string,
  bytes: Uint8Array,
  { name, stored, crc, compressedSize, size, headerOffset }: Entry,
): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (headerOffset + RECORD_BYTES.entry > bytes.length || view.getUint32(headerOffset, true) !== SIGNATURE.entry) {
    throw damagedZip(archive, name, `no file at byte ${headerOffset}`);
  }
  const begin =
    headerOffset +
    RECORD_BYTES.entry +
    view.getUint16(headerOffset + 26, true) +
    view.getUint16(headerOffset + 28, true);
  if (begin + compressedSize > bytes.length)
    throw damagedZip(archive, name, `${compressedSize} bytes from byte ${begin} of ${bytes.length}`);
  const compressed = bytes.subarray(begin, begin + compressedSize);
  const contents = stored ? compressed.slice() : unpack(archive, name, compressed, size);
  if (crc32(contents) !== crc) throw damagedZip(archive, name, 'contents that don’t match the checksum');
  return contents;
}

/** Inflates slice by slice, to stop as soon as more comes out than the declared size. */
function unpack(archive: string, name: string, compressed: Uint8Array, size: number): Uint8Array {
  const contents = new Uint8Array(size);
  let length = 0;
  const stream = new Inflate((chunk) => {
    if (length + chunk.length > size) throw damagedZip(archive, name, `more than the ${size} bytes it declares`);
    contents.set(chunk, length);
    length += chunk.length;
  });
  try {
    for (let at = 0; at < compressed.length || at === 0; at += INFLATED_SLICE_BYTES) {
      stream.push(compressed.subarray(at, at + INFLATED_SLICE_BYTES), at + INFLATED_SLICE_BYTES >= compressed.length);
    }
  } catch (error) {
    if (error instanceof ProblemError) throw error;
    throw damagedZip(archive, name, `data that can’t be inflated (${error instanceof Error ? error.message : ''})`);
  }
  if (length !== size) throw damagedZip(archive, name, `${length} bytes of ${size}`);
  return contents;
}

const zipProblem = (file: string, place: string, got: string, want: string, remedy: string) =>
  new ProblemError([{ file, place, got, want, remedy }]);

const damagedZip = (archive: string, place: string, got: string) =>
  zipProblem(
    archive,
    place,
    got,
    'a whole zip archive',
    'It may have been cut off or damaged: fetch or save it again.',
  );
