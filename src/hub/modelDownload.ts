import { sha1 } from '@noble/hashes/legacy.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { type HubAccess, type HubFile, type Listing, refusedError, unreachableError } from './listing.ts';
import { ProblemError } from '../base/problem.ts';

/** Storage for a model's files. */
export interface FileStore {
  /** The number of a file's bytes that are stored; 0 if there is no such file. */
  readonly size: (name: string) => Promise<number>;
  readonly read: (name: string, begin: number, end: number) => Promise<Uint8Array>;
  readonly append: (name: string, bytes: Uint8Array) => Promise<void>;
  readonly remove: (name: string) => Promise<void>;
}

export interface DownloadOptions extends HubAccess {
  readonly store: FileStore;
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
export async function download(listing: Listing, options: DownloadOptions): Promise<void> {
  const total = listing.files.reduce((sum, { bytes }) => sum + bytes, 0);
  let finished = 0;
  for (const file of listing.files) {
    const before = finished;
    await fetchFile(listing, file, options, (bytes) => options.onProgress(before + bytes, total, file.name));
    finished += file.bytes;
  }
}

async function fetchFile(
  { address, revision }: Listing,
  file: HubFile,
  options: DownloadOptions,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const { store, fetch: request, signal, hub } = options;
  if ((await store.size(file.name)) > file.bytes) await store.remove(file.name);
  let { hasher, stored } = await hashStored(file, store, signal);
  onBytes(stored);
  if (stored < file.bytes || (file.bytes === 0 && stored === 0)) {
    const fileAddress = `${address}/resolve/${revision}/${file.name}`;
    const response = await request(fileAddress, {
      ...(stored > 0 && { headers: { range: `bytes=${stored}-` } }),
      ...{ signal, credentials: 'omit' },
    }).catch((error: unknown) => {
      signal.throwIfAborted();
      throw unreachableError(hub, error);
    });
    if (!response.ok || !response.body) throw refusedError(response.status, fileAddress);
    if (stored > 0 && !continuesAt(response, stored)) {
      // the server sends the whole file, so the download of this file restarts
      await store.remove(file.name);
      ({ hasher, stored } = { hasher: newHasher(file), stored: 0 });
    }
    const reader = response.body.getReader();
    for (;;) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        signal.throwIfAborted();
        throw unreachableError(hub, error);
      });
      if (done) break;
      if (stored + value.length > file.bytes) {
        await reader.cancel();
        await store.remove(file.name);
        throw new ProblemError(`${fileAddress} sent more than the announced ${file.bytes} bytes. Try again.`);
      }
      hasher?.update(value);
      await store.append(file.name, value);
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
    await store.remove(file.name);
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
function newHasher({ sha256: hubSha256, gitSha1, bytes }: HubFile): Hasher | null {
  if (hubSha256 !== null) return sha256.create();
  if (gitSha1 === null) return null;
  return sha1.create().update(new TextEncoder().encode(`blob ${bytes}\0`));
}

/** Hashes the bytes of a file that are already stored. Returns the hash function, to be continued, and their number. */
async function hashStored(
  file: HubFile,
  store: FileStore,
  signal: AbortSignal,
): Promise<{ readonly hasher: Hasher | null; readonly stored: number }> {
  const hasher = newHasher(file);
  const stored = await store.size(file.name);
  for (let at = 0; hasher && at < stored; at += READ_BYTES) {
    signal.throwIfAborted();
    hasher.update(await store.read(file.name, at, Math.min(stored, at + READ_BYTES)));
  }
  return { hasher, stored };
}
