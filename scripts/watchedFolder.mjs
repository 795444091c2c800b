// One folder that the page follows while a job writes into it: what is in it now, and the bytes of its files. Nothing is written.
import { realpathSync } from 'node:fs';
import { opendir, stat } from 'node:fs/promises';
import path from 'node:path';

export const MAX_FILES = 10_000;
export const MAX_BYTES = 2 ** 30;
/** Files of rollouts and logs, also those that were rotated (`log.jsonl.1`) or compressed. The page can ask for no others. */
export const READABLE = /\.(?:jsonl|ndjson|parquet)(?:\.\d{1,6})?(?:\.zst)?$/i;
export const TOO_LARGE = 'larger than 1 GB';

/**
 * The folder, which may not exist yet or vanish, and the secret in its address.
 * @typedef {{ readonly token: string, readonly folder: string }} WatchedFolder
 *
 * A file in it. `stamp` tells files apart that had the same name one after the other; `changed` is in ms since 1970.
 * @typedef {{ path: string, size: number, stamp: string, changed: number, refused?: string }} ListedFile
 */

/**
 * What is in the folder now. No links are followed, because they may lead out of it.
 * @param {string} folder
 * @returns {Promise<{ folder: string, now: number, missing: boolean, leftOut: boolean, files: ListedFile[] }>}
 */
async function listOf(folder) {
  /** @type {ListedFile[]} */
  const files = [];
  let leftOut = false;
  /** @param {string} place @param {string} below its path in the folder */
  const walk = async (place, below) => {
    for await (const entry of await opendir(place)) {
      const [at, name] = [path.join(place, entry.name), `${below}${entry.name}`];
      if (files.length >= MAX_FILES) leftOut = true;
      if (leftOut) return;
      if (entry.isDirectory()) await walk(at, `${name}/`).catch(() => undefined); // it has vanished, or may not be read
      if (!entry.isFile() || !READABLE.test(name)) continue;
      const found = await stat(at).catch(() => null);
      if (!found) continue;
      const { size, dev, ino, mtimeMs: changed } = found;
      const refused = size > MAX_BYTES ? { refused: TOO_LARGE } : {};
      files.push({ path: name, size, stamp: `${dev}-${ino}`, changed, ...refused });
    }
  };
  const missing = await walk(folder, '').then(
    () => false,
    () => true,
  );
  return { folder: path.basename(folder), now: Date.now(), missing, leftOut, files };
}

/** Whether a request names this machine as itself. A page elsewhere can't, by giving its own name this machine's address. @param {string | undefined} host */
export const isThisMachine = (host = '') => /^(?:127\.0\.0\.1|localhost)(?::\d+)?$/.test(host);

/**
 * What an address below `watched/` stands for: the list at `watched/TOKEN`, or a file at `watched/TOKEN/PATH`. Null for other addresses;
 * `refused` says why nothing is handed out. Only pages of this server are answered: those elsewhere can't reach the folder by giving
 * their own name this machine's address, or by asking from their own origin.
 * @param {WatchedFolder} watched @param {import('node:http').IncomingMessage} request
 * @param {(folder: string, address: string) => string | null} fileAt
 * @returns {Promise<{ list: string } | { place: string } | { status: number, refused: string } | null>}
 */
export async function watchedAt({ token, folder }, { url = '', headers }, fileAt) {
  const [, first, given, ...names] = (url.split(/[?#]/, 1)[0] ?? '').split('/');
  if (first !== 'watched') return null;
  const { host = '', origin } = headers;
  if (!isThisMachine(host))
    return { status: 403, refused: 'A watched folder is handed out at 127.0.0.1 and localhost alone.' };
  if (
    (origin ?? `http://${host}`) !== `http://${host}` ||
    !/^(?:same-origin|none)$/.test(`${headers['sec-fetch-site'] ?? 'none'}`)
  )
    return { status: 403, refused: 'A watched folder is handed out to its own page alone.' };
  if (given !== token)
    return { status: 403, refused: 'The address has an old token. Open the address that the command printed.' };
  if (names.length === 0) return { list: JSON.stringify(await listOf(folder)) };
  let place = null;
  try {
    place = fileAt(realpathSync(folder), `/${names.join('/')}`); // null for what lies outside, links that lead there too
  } catch {
    // the folder is not there
  }
  if (place === null || !READABLE.test(place)) return { status: 404, refused: 'There is no such file in the folder.' };
  const size = await stat(place)
    .then((found) => found.size)
    .catch(() => 0);
  return size > MAX_BYTES ? { status: 413, refused: `The file is ${TOO_LARGE}.` } : { place };
}
