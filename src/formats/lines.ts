/** A file that can be read in slices, such as the page's `File`. */
export interface SliceableFile {
  readonly size: number;
  readonly slice: (from: number, to: number) => { readonly arrayBuffer: () => Promise<ArrayBuffer> };
}

/** A line of a file, without its line end. */
export interface FileLine {
  readonly number: number; // from 1
  readonly offset: number; // of its first byte in the file
  readonly bytes: Uint8Array | null; // without blanks around it; null: skipped, longer than `MAX_LINE_BYTES`
  readonly length: number; // bytes in the file
  readonly hasLineEnd: boolean; // false: the file's last line, without a line end
}

/** Longer lines are skipped, because the page could not show such a rollout. */
export const MAX_LINE_BYTES = 32 * 2 ** 20;
const CHUNK_BYTES = 4 * 2 ** 20;
const [LINE_FEED, RETURN] = [0x0a, 0x0d];

/** Where a line begins: its number, from 1, and the place of its first byte. */
export type LineStart = Pick<FileLine, 'number' | 'offset'>;
export const FIRST_LINE: LineStart = { number: 1, offset: 0 };

/** Yields the lines of a file, chunk by chunk, and skips blank lines. Keeps at most one chunk and one line in memory. */
export async function* linesOf(
  file: SliceableFile,
  chunkBytes = CHUNK_BYTES,
  from: LineStart = FIRST_LINE,
): AsyncGenerator<readonly FileLine[]> {
  let { number, offset } = from; // of the current line
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;
  const finishLine = (end: number, last: Uint8Array, hasLineEnd: boolean): FileLine[] => {
    const length = end - offset;
    const content = length > MAX_LINE_BYTES ? null : trimmed(joined(pending, last));
    const line = { number, offset, bytes: content, length, hasLineEnd };
    [pending, pendingBytes, offset] = [[], 0, end + 1];
    number++;
    return content?.length === 0 ? [] : [line];
  };
  for (let at = offset; at < file.size; at += chunkBytes) {
    const chunk = new Uint8Array(await file.slice(at, Math.min(file.size, at + chunkBytes)).arrayBuffer());
    const lines: FileLine[] = [];
    for (const { from, to, hasLineEnd } of lineRanges(chunk)) {
      const part = chunk.subarray(from, to);
      if (hasLineEnd) {
        lines.push(...finishLine(at + to, part, true));
        continue;
      }
      pendingBytes += part.length;
      // no bytes are kept of a line that is too long
      if (pendingBytes <= MAX_LINE_BYTES) pending.push(part);
      else pending = [];
    }
    yield lines;
  }
  if (offset < file.size) yield finishLine(file.size, new Uint8Array(0), false);
}

/** Where the lines of some bytes begin and end, without their line ends. */
export function* lineRanges(
  bytes: Uint8Array,
): Generator<{ readonly from: number; readonly to: number; readonly hasLineEnd: boolean }> {
  for (let from = 0; from < bytes.length;) {
    const end = bytes.indexOf(LINE_FEED, from);
    const to = end < 0 ? bytes.length : end;
    yield { from, to, hasLineEnd: end >= 0 };
    from = to + 1;
  }
}

function joined(pieces: readonly Uint8Array[], last: Uint8Array): Uint8Array {
  if (pieces.length === 0) return last;
  const all = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, last.length));
  let at = 0;
  for (const piece of [...pieces, last]) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

/** Removes blanks and carriage returns from both ends, and a byte order mark from the beginning. */
function trimmed(bytes: Uint8Array): Uint8Array {
  let [from, to] = [0, bytes.length];
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) from = 3;
  const isBlank = (byte: number | undefined) => byte === RETURN || byte === 0x20 || byte === 0x09;
  while (from < to && isBlank(bytes[from])) from++;
  while (to > from && isBlank(bytes[to - 1])) to--;
  return bytes.subarray(from, to);
}
