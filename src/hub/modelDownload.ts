import { sha1 } from '@noble/hashes/legacy.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { type HubAccess, type HubFile, type Listing, refusedBy, unreachable } from './listing.ts';
import { ProblemError } from '../base/problem.ts';

/** Storage for a model's files. */
export interface Shelf {
  /** The number of a file's bytes that are stored; 0 if there is no such file. */
  readonly size: (name: string) => Promise<number>;
  readonly read: (name: string, begin: number, end: number) => Promise<Uint8Array>;
  /** Appends bytes to a file. */
  readonly append: (name: string, bytes: Uint8Array) => Promise<void>;
  /** Deletes a file. */
  readonly drop: (name: string) => Promise<void>;
}

/** Options of a download. */
export interface Downloading extends HubAccess {
  readonly shelf: Shelf;
  readonly signal: AbortSignal; // pauses the download; stored bytes stay
  readonly onProgress: (bytes: number, total: number, name: string) => void;
}

/** Number of bytes of a stored file that are read at once. */
const READ_BYTES = 1 << 22;

/**
 * Downloads the missing bytes of a model's files and checks each file against the hub's checksum. Throws ProblemError
 * if a file cannot be downloaded or differs from what the hub stated; a file that differs is deleted. Throws AbortError
 * if the download was paused.
 */
export async function download(listing: Listing, downloading: Downloading): Promise<void> {
  const total = listing.files.reduce((sum, { bytes }) => sum + bytes, 0);
  let finished = 0;
  for (const file of listing.files) {
    const before = finished;
    await fetchFile(listing, file, downloading, (bytes) => downloading.onProgress(before + bytes, total, file.name));
    finished += file.bytes;
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
  let { hasher, stored } = await hashStored(file, shelf, signal);
  onBytes(stored);
  if (stored < file.bytes || (file.bytes === 0 && stored === 0)) {
    const at = `${address}/resolve/${revision}/${file.name}`;
    const response = await ask(at, {
      ...(stored > 0 && { headers: { range: `bytes=${stored}-` } }),
      ...{ signal, credentials: 'omit' },
    }).catch((error: unknown) => {
      signal.throwIfAborted();
      throw unreachable(hub, error);
    });
    if (!response.ok || !response.body) throw refusedBy(response.status, at);
    if (stored > 0 && !continuesAt(response, stored)) {
      // the server sends the whole file, so the download of this file restarts
      await shelf.drop(file.name);
      ({ hasher, stored } = { hasher: hasherFor(file), stored: 0 });
    }
    const reader = response.body.getReader();
    for (;;) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        signal.throwIfAborted();
        throw unreachable(hub, error);
      });
      if (done) break;
      if (stored + value.length > file.bytes) {
        await reader.cancel();
        await shelf.drop(file.name);
        throw new ProblemError(`${at} sent more than the announced ${file.bytes} bytes. Try again.`);
      }
      hasher?.update(value);
      await shelf.append(file.name, value);
      stored += value.length;
      onBytes(stored);
    }
  }
  if (stored < file.bytes) {
    throw new ProblemError(
      `${file.name}: the connection ended after ${stored} of ${file.bytes} bytes. Press Resume to continue.`,
    );
  }
  const got = hasher && bytesToHex(hasher.digest());
  const want = file.sha256 ?? file.gitSha1;
  if (got !== null && got !== want) {
    await shelf.drop(file.name);
    throw new ProblemError(
      `${file.name}: the checksum is ${got}, not ${want ?? 'that of the hub'}. The damaged download was deleted. Download it again.`,
    );
  }
}

/** Whether a response continues the file at byte `stored`. */
function continuesAt(response: Response, stored: number): boolean {
  if (response.status !== 206) return false;
  const range = response.headers.get('content-range');
  return range === null || range.startsWith(`bytes ${stored}-`); // not every server lets a page read the header
}

type Hasher = ReturnType<typeof sha256.create> | ReturnType<typeof sha1.create>;

/** The hash function for a file's bytes; null if the hub states no checksum. */
function hasherFor({ sha256: statedSha256, gitSha1, bytes }: HubFile): Hasher | null {
  if (statedSha256 !== null) return sha256.create();
  if (gitSha1 === null) return null;
  return sha1.create().update(new TextEncoder().encode(`blob ${bytes}\0`));
}

/** Hashes the bytes of a file that are already stored. Returns the hash function, to be continued, and their number. */
async function hashStored(
  file: HubFile,
  shelf: Shelf,
  signal: AbortSignal,
): Promise<{ readonly hasher: Hasher | null; readonly stored: number }> {
  const hasher = hasherFor(file);
  const stored = await shelf.size(file.name);
  for (let at = 0; hasher && at < stored; at += READ_BYTES) {
    signal.throwIfAborted();
    hasher.update(await shelf.read(file.name, at, Math.min(stored, at + READ_BYTES)));
  }
  return { hasher, stored };
}
