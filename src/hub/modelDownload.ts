import { sha1 } from '@noble/hashes/legacy.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { type HubAccess, type HubFile, type Listing, refusedBy, unreachable } from './listing.ts';
import { ProblemError } from '../base/problem.ts';

/** Where a model's files are kept. */
export interface Shelf {
  /** Bytes of a file that are there; 0 if there is none. */
  readonly size: (name: string) => Promise<number>;
  readonly read: (name: string, begin: number, end: number) => Promise<Uint8Array>;
  /** Puts bytes at a file's end. */
  readonly append: (name: string, bytes: Uint8Array) => Promise<void>;
  /** Leaves nothing of a file. */
  readonly drop: (name: string) => Promise<void>;
}

/** How a download goes on. */
export interface Downloading extends HubAccess {
  readonly shelf: Shelf;
  readonly signal: AbortSignal; // pauses it: what is there stays
  readonly onProgress: (bytes: number, of: number, name: string) => void;
}

/** What is read of a kept file at once. */
const PIECE = 1 << 22;

/**
 * Fetches what is not there yet of a model's files and checks each against the hub's sum. Throws ProblemError where a file cannot be had or is
 * another than the hub said, then nothing of that file is kept; an AbortError where it was paused.
 */
export async function download(listing: Listing, downloading: Downloading): Promise<void> {
  const of = listing.files.reduce((sum, { bytes }) => sum + bytes, 0);
  let before = 0;
  for (const file of listing.files) {
    const begun = before;
    await fetchFile(listing, file, downloading, (bytes) => downloading.onProgress(begun + bytes, of, file.name));
    before += file.bytes;
  }
}

async function fetchFile(
  { address, revision }: Listing,
  file: HubFile,
  downloading: Downloading,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const { shelf, fetch: ask, signal, hub } = downloading;
  if ((await shelf.size(file.name)) > file.bytes) await shelf.drop(file.name);
  let { sum, have } = await summed(file, shelf, signal);
  onBytes(have);
  if (have < file.bytes || (file.bytes === 0 && have === 0)) {
    const at = `${address}/resolve/${revision}/${file.name}`;
    const response = await ask(at, {
      ...(have > 0 && { headers: { range: `bytes=${have}-` } }),
      ...{ signal, credentials: 'omit' },
    }).catch((error: unknown) => {
      signal.throwIfAborted();
      throw unreachable(hub, error);
    });
    if (!response.ok || !response.body) throw refusedBy(response.status, at);
    if (have > 0 && !goesOn(response, have)) {
      // the whole file came: it begins again
      await shelf.drop(file.name);
      ({ sum, have } = { sum: summing(file), have: 0 });
    }
    const reader = response.body.getReader();
    for (;;) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        signal.throwIfAborted();
        throw unreachable(hub, error);
      });
      if (done) break;
      if (have + value.length > file.bytes) {
        await reader.cancel();
        await shelf.drop(file.name);
        throw new ProblemError(`${at} sent more than the announced ${file.bytes} bytes. Try again.`);
      }
      sum?.update(value);
      await shelf.append(file.name, value);
      have += value.length;
      onBytes(have);
    }
  }
  if (have < file.bytes) {
    throw new ProblemError(
      `${file.name}: the connection ended after ${have} of ${file.bytes} bytes. Press Resume to continue.`,
    );
  }
  const got = sum && bytesToHex(sum.digest());
  const want = file.sha256 ?? file.gitSha1;
  if (got !== null && got !== want) {
    await shelf.drop(file.name);
    throw new ProblemError(
      `${file.name}: the checksum is ${got}, not ${want ?? 'that of the hub'}. The damaged download was deleted. Download it again.`,
    );
  }
}

/** Whether an answer goes on at byte `have`. */
function goesOn(response: Response, have: number): boolean {
  if (response.status !== 206) return false;
  const range = response.headers.get('content-range');
  return range === null || range.startsWith(`bytes ${have}-`); // not every server lets a page see it
}

type Summing = ReturnType<typeof sha256.create> | ReturnType<typeof sha1.create>;

/** What a file's bytes are to be put in; null where the hub says no sum. */
function summing({ sha256: strong, gitSha1, bytes }: HubFile): Summing | null {
  if (strong !== null) return sha256.create();
  if (gitSha1 === null) return null;
  return sha1.create().update(new TextEncoder().encode(`blob ${bytes}\0`));
}

/** The sum of what is there. */
async function summed(
  file: HubFile,
  shelf: Shelf,
  signal: AbortSignal,
): Promise<{ readonly sum: Summing | null; readonly have: number }> {
  const sum = summing(file);
  const have = await shelf.size(file.name);
  for (let at = 0; sum && at < have; at += PIECE) {
    signal.throwIfAborted();
    sum.update(await shelf.read(file.name, at, Math.min(have, at + PIECE)));
  }
  return { sum, have };
}
