/** What a file of rollouts is read from: a `File` of the page, or anything that hands out slices. */
export interface Slices {
  readonly size: number;
  readonly slice: (from: number, to: number) => { readonly arrayBuffer: () => Promise<ArrayBuffer> };
}

/** A line of a file: its bytes without the line's end. */
export interface FileLine {
  readonly number: number; // from 1
  readonly offset: number; // of its first byte
  readonly bytes: Uint8Array | null; // null: it is longer than `MOST_LINE_BYTES`, and was passed over
  readonly length: number; // of its bytes
  readonly ended: boolean; // false: the file ends without a line's end after it
}

/** A line that is longer is no rollout that a page can show. */
export const MOST_LINE_BYTES = 32 * 2 ** 20;
const CHUNK_BYTES = 4 * 2 ** 20;
const [LINE_FEED, RETURN] = [0x0a, 0x0d];

/** The lines of a file, chunk after chunk: never more than a chunk and a line in memory. Blank ones are passed over. */
export async function* linesOf(file: Slices, chunkBytes = CHUNK_BYTES): AsyncGenerator<readonly FileLine[]> {
  let number = 1;
  let offset = 0; // of the line that is begun
  let pending: Uint8Array[] = [];
  let pendingBytes = 0;
  const finished = (end: number, last: Uint8Array, ended: boolean): FileLine[] => {
    const length = end - offset;
    const whole = length > MOST_LINE_BYTES ? null : trimmed(joined(pending, last));
    const line = { number, offset, bytes: whole, length, ended };
    [pending, pendingBytes, offset] = [[], 0, end + 1];
    number++;
    return whole?.length === 0 ? [] : [line];
  };
  for (let at = 0; at < file.size; at += chunkBytes) {
    const chunk = new Uint8Array(await file.slice(at, Math.min(file.size, at + chunkBytes)).arrayBuffer());
    const lines: FileLine[] = [];
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, from)) {
      lines.push(...finished(at + end, chunk.subarray(from, end), true));
      from = end + 1;
    }
    pendingBytes += chunk.length - from;
    // of a line that is too long nothing needs to be kept
    if (pendingBytes <= MOST_LINE_BYTES) pending.push(chunk.subarray(from));
    else pending = [];
    yield lines;
  }
  if (offset < file.size) yield finished(file.size, new Uint8Array(0), false);
}

function joined(pieces: readonly Uint8Array[], last: Uint8Array): Uint8Array {
  if (pieces.length === 0) return last;
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, last.length));
  let at = 0;
  for (const piece of [...pieces, last]) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** Without blanks and returns around it, and without a byte order mark. */
function trimmed(bytes: Uint8Array): Uint8Array {
  let [from, to] = [0, bytes.length];
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) from = 3;
  const blank = (byte: number | undefined) => byte === RETURN || byte === 0x20 || byte === 0x09;
  while (from < to && blank(bytes[from])) from++;
  while (to > from && blank(bytes[to - 1])) to--;
  return bytes.subarray(from, to);
}
