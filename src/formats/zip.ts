import { Inflate, zipSync, type Zippable } from 'fflate';
import { crcBy } from './crc.ts';
import { ProblemError } from '../base/problem.ts';

/** Names and contents of files. */
export type Files = ReadonlyMap<string, Uint8Array>;

const MOST_FILES = 10_000;
/** Bytes that any archive may unfold to, … */
const ALWAYS = 64e6;
/** … that a large one may, as a multiple of its own, … */
const MOST_RATIO = 200;
/** … and that none may exceed. */
const MOST_BYTES = 2 ** 30;
/** Compressed bytes inflated at a time: at most a thousand times as many come out before their number is looked at. */
const SLICE = 4096;

const SIGNATURE = { entry: 0x04034b50, directory: 0x02014b50, end: 0x06054b50 };
const SIZE = { entry: 30, directory: 46, end: 22, comment: 0xffff };
const FLAG = { encrypted: 1, utf8: 0x800 };

/**
 * A zip archive of files, in their order. Numbers of a network hardly compress, so safetensors are stored as they are; the same files
 * always make the same bytes.
 */
export function zipOf(files: Files): Uint8Array<ArrayBuffer> {
  const entries: Zippable = {};
  for (const [name, bytes] of files) {
    entries[name] = [bytes, { level: name.endsWith('.safetensors') ? 0 : 6, mtime: new Date(1980, 0, 1) }];
  }
  return zipSync(entries);
}

/**
 * The files of a zip archive; folders are left out, and a folder that all lie in is left off their names. Everything is judged before
 * a byte is inflated. Throws ProblemError, with `archive` for its name, where a name leads out of the archive or stands twice, a file is encrypted,
 * packed by another method, cut off or damaged, or where there is more in it than 1 GiB, or than 64 MB and 200 times its own bytes.
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

/** A file as the archive's directory has it. */
interface Entry {
  readonly name: string;
  readonly stored: boolean; // not compressed
  readonly crc: number;
  readonly packed: number; // bytes
  readonly size: number; // bytes
  readonly at: number; // of its local header
}

function readDirectory(archive: string, bytes: Uint8Array): readonly Entry[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = endRecord(archive, view);
  const [count, start] = [view.getUint16(end + 10, true), view.getUint32(end + 16, true)];
  if (count > MOST_FILES) {
    throw refused(archive, 'directory', `${count} files`, `at most ${MOST_FILES}`, 'Choose the folder of one run.');
  }
  const entries: Entry[] = [];
  const names = new Set<string>();
  let at = start;
  for (let i = 0; i < count; i++) {
    if (at + SIZE.directory > end || view.getUint32(at, true) !== SIGNATURE.directory) {
      throw cutOff(archive, `directory, file ${i + 1} of ${count}`, 'no entry where one should be');
    }
    const lengths = [28, 30, 32].map((offset) => view.getUint16(at + offset, true));
    const [nameLength = 0] = lengths;
    const next = at + SIZE.directory + lengths.reduce((sum, length) => sum + length, 0);
    if (next > end) throw cutOff(archive, `directory, file ${i + 1} of ${count}`, 'an entry that runs over its end');
    const entry = readEntry(archive, view, at, bytes.subarray(at + SIZE.directory, at + SIZE.directory + nameLength));
    const same = entry.name.toLowerCase();
    if (names.has(same)) {
      throw refused(archive, entry.name, 'the name twice', 'every name once', 'Pack the folder anew.');
    }
    names.add(same);
    entries.push(entry);
    at = next;
  }
  checkTotal(archive, entries, bytes.length);
  return entries;
}

/** Where the record lies that ends an archive: it is looked for from behind, for a comment may follow it. */
function endRecord(archive: string, view: DataView): number {
  const lowest = Math.max(0, view.byteLength - SIZE.end - SIZE.comment);
  for (let at = view.byteLength - SIZE.end; at >= lowest; at--) {
    if (view.getUint32(at, true) === SIGNATURE.end) return at;
  }
  throw cutOff(archive, '', 'no end of an archive');
}

function readEntry(archive: string, view: DataView, at: number, nameBytes: Uint8Array): Entry {
  const [flags, method] = [view.getUint16(at + 8, true), view.getUint16(at + 10, true)];
  const name = new TextDecoder(flags & FLAG.utf8 ? 'utf-8' : 'latin1').decode(nameBytes);
  const fail = (got: string, want: string) =>
    refused(archive, name, got, want, 'Pack the folder anew, as a plain zip archive.');
  const parts = name.split('/');
  const leadsOut = name.includes('\\') || /^(?:\/|[a-z]:)/i.test(name) || parts.includes('..') || parts.includes('.');
  if (name === '' || name.includes('\0') || leadsOut) {
    throw fail(`a name that leads elsewhere: ${name}`, 'a name inside the folder, with / between its parts');
  }
  if (flags & FLAG.encrypted) throw fail('an encrypted file', 'one without a password');
  if (method !== 0 && method !== 8) throw fail(`compression method ${method}`, '0 (stored) or 8 (deflate)');
  const [packed, size] = [view.getUint32(at + 20, true), view.getUint32(at + 24, true)];
  const local = view.getUint32(at + 42, true);
  if ([packed, size, local].includes(0xffffffff)) throw fail('a zip64 entry', 'files below 4 GB');
  if (method === 0 && packed !== size) {
    throw cutOff(archive, name, `${packed} stored bytes of a file of ${size}`);
  }
  return { name, stored: method === 0, crc: view.getUint32(at + 16, true), packed, size, at: local };
}

function checkTotal(archive: string, entries: readonly Entry[], own: number): void {
  const total = entries.reduce((sum, { size }) => sum + size, 0);
  const most = Math.min(MOST_BYTES, Math.max(ALWAYS, MOST_RATIO * own));
  if (total <= most) return;
  const got = `${total} bytes in an archive of ${own}`;
  throw refused(archive, '', got, `at most ${most}`, 'Unpack it yourself if you trust it, and give the folder.');
}

/** `name/` where every file lies in that one folder; else ''. */
function commonFolder(entries: readonly Entry[]): string {
  const first = entries[0]?.name ?? '';
  const folder = first.slice(0, first.indexOf('/') + 1);
  return folder !== '' && entries.every(({ name }) => name.startsWith(folder)) ? folder : '';
}

function inflated(archive: string, bytes: Uint8Array, { name, stored, crc, packed, size, at }: Entry): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (at + SIZE.entry > bytes.length || view.getUint32(at, true) !== SIGNATURE.entry) {
    throw cutOff(archive, name, `no file at byte ${at}`);
  }
  const begin = at + SIZE.entry + view.getUint16(at + 26, true) + view.getUint16(at + 28, true);
  if (begin + packed > bytes.length)
    throw cutOff(archive, name, `${packed} bytes from byte ${begin} of ${bytes.length}`);
  const content = bytes.subarray(begin, begin + packed);
  const whole = stored ? content.slice() : unpack(archive, name, content, size);
  if (crc32(whole) !== crc) throw cutOff(archive, name, 'contents that are not those its checksum was made of');
  return whole;
}

/** Inflates slice by slice, so that no more comes out than was declared. */
function unpack(archive: string, name: string, content: Uint8Array, size: number): Uint8Array {
  const whole = new Uint8Array(size);
  let length = 0;
  const stream = new Inflate((chunk) => {
    if (length + chunk.length > size) throw cutOff(archive, name, `more than the ${size} bytes it declares`);
    whole.set(chunk, length);
    length += chunk.length;
  });
  try {
    for (let at = 0; at < content.length || at === 0; at += SLICE) {
      stream.push(content.subarray(at, at + SLICE), at + SLICE >= content.length);
    }
  } catch (error) {
    if (error instanceof ProblemError) throw error;
    throw cutOff(archive, name, `what does not inflate (${error instanceof Error ? error.message : ''})`);
  }
  if (length !== size) throw cutOff(archive, name, `${length} bytes of ${size}`);
  return whole;
}

const crc32 = crcBy(0xedb88320); // IEEE's, reversed

const refused = (file: string, place: string, got: string, want: string, remedy: string) =>
  new ProblemError([{ file, place, got, want, remedy }]);

const cutOff = (archive: string, place: string, got: string) =>
  refused(archive, place, got, 'a whole zip archive', 'It may have been cut off or damaged: fetch or save it again.');
