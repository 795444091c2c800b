// Files of this machine that the page may read: one folder that it follows while a job writes into it, or files that were named on the
// command line. What they are now, and their bytes. Nothing is written there.
import { createHmac, randomBytes } from 'node:crypto';
import { lstatSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { opendir, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';

export const MAX_FILES = 10_000;
export const MAX_BYTES = 2 ** 30;
/** Files of rollouts and logs, also those that were rotated (`log.jsonl.1`) or compressed. The page can ask for no others. */
export const READABLE =
  /(?:\.(?:jsonl?|ndjson|parquet|csv|log|out)|\.tfevents\.[^/]*?)(?:[.-]\d{1,8})?(?:\.(?:zst|gz))?$/i;
export const TOO_LARGE = 'larger than 1 GB';

/**
 * The folder, which may not exist yet or vanish, and the secret in its address. With `files` there is no folder: these files alone are
 * listed, of any kind and size, because the person named them.
 * @typedef {{ readonly path: string, readonly place: string }} NamedFile
 * @typedef {{ readonly token: string } & ({ readonly folder: string } | { readonly files: readonly NamedFile[] })} WatchedFolder
 *
 * A file in it. `stamp` tells files apart that had the same name one after the other; `changed` is in ms since 1970.
 * @typedef {{ path: string, size: number, stamp: string, changed: number, refused?: string }} ListedFile
 */

/**
 * The token of a folder. It stays the same when the command starts again, so that an open page goes on by itself. The folder's name is not
 * enough to compute it, because everyone on this machine can reach the port: it takes a key that only this user can read.
 * @param {string} folder @param {string} [settings] the user's folder of settings
 */
export const tokenOf = (folder, settings = settingsFolder()) =>
  createHmac('sha256', ownKey(path.join(settings, 'rollout-playground')))
    .update(folder)
    .digest('hex')
    .slice(0, 32);

const settingsFolder = () =>
  process.env['XDG_CONFIG_HOME'] || process.env['APPDATA'] || path.join(homedir(), '.config');

/** A key that only this user can read; if none can be kept, one for this time. @param {string} home */
function ownKey(home) {
  const place = path.join(home, 'watch-key');
  const fresh = randomBytes(32);
  try {
    mkdirSync(home, { recursive: true, mode: 0o700 });
    const found = lstatSync(place, { throwIfNoEntry: false });
    const isOthers = process.platform !== 'win32' && ((found?.mode ?? 0) & 0o077 || found?.uid !== process.getuid?.());
    if (found && (!found.isFile() || found.size !== fresh.length || isOthers)) rmSync(place);
    else if (found) return readFileSync(place);
    writeFileSync(place, fresh, { flag: 'wx', mode: 0o600 });
  } catch {
    // the folder may not be written
  }
  return fresh;
}

/**
 * What is in the folder now. No links are followed, because they may lead out of it.
 * @param {string} folder
 * @returns {Promise<{ folder: string, now: number, missing: boolean, leftOut: boolean, files: ListedFile[] }>}
 */
async function listOfFolder(folder) {
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
      const found = await listed(name, at).catch(() => null);
      if (found) files.push({ ...found, ...(found.size > MAX_BYTES && { refused: TOO_LARGE }) });
    }
  };
  const missing = await walk(folder, '').then(
    () => false,
    () => true,
  );
  return { folder: path.basename(folder), now: Date.now(), missing, leftOut, files };
}

/** @param {string} name its path in the folder @param {string} place @returns {Promise<ListedFile>} */
async function listed(name, place) {
  const { size, dev, ino, mtimeMs: changed } = await stat(place);
  return { path: name, size, stamp: `${dev}-${ino}`, changed };
}

/** @param {WatchedFolder} watched */
async function listOf(watched) {
  if ('folder' in watched) return listOfFolder(watched.folder);
  const all = await Promise.all(watched.files.map(({ path: name, place }) => listed(name, place).catch(() => [])));
  return { folder: '', now: Date.now(), missing: false, leftOut: false, files: all.flat() };
}

/**
 * What an address below `watched/` stands for: the list at `watched/TOKEN`, or a file at `watched/TOKEN/PATH`. Null for other addresses;
 * `refused` says why nothing is handed out. Only pages of this server are answered: those elsewhere can't reach the files by giving
 * their own name this machine's address, or by asking from their own origin.
 * @param {WatchedFolder} watched @param {import('node:http').IncomingMessage} request
 * @param {(folder: string, address: string) => string | null} fileAt
 * @returns {Promise<{ list: string } | { place: string } | { status: number, refused: string } | null>}
 */
export async function watchedAt(watched, { url = '', headers }, fileAt) {
  const [, first, given, ...names] = (url.split(/[?#]/, 1)[0] ?? '').split('/');
  if (first !== 'watched') return null;
  const { host = '', origin } = headers;
  if (!/^(?:127\.0\.0\.1|localhost)(?::\d+)?$/.test(host))
    return { status: 403, refused: 'Files of this machine are handed out at 127.0.0.1 and localhost alone.' };
  if (
    (origin ?? `http://${host}`) !== `http://${host}` ||
    !/^(?:same-origin|none)$/.test(`${headers['sec-fetch-site'] ?? 'none'}`)
  )
    return { status: 403, refused: 'Files of this machine are handed out to their own page alone.' };
  if (given !== watched.token)
    return { status: 403, refused: 'The address has an old token. Open the address that the command printed.' };
  if (names.length === 0) return { list: JSON.stringify(await listOf(watched)) };
  const none = { status: 404, refused: 'There is no such file here.' };
  let place = null;
  try {
    const name = decodeURIComponent(names.join('/'));
    if ('files' in watched) {
      const named = watched.files.find((file) => file.path === name);
      return named ? { place: named.place } : none;
    }
    place = fileAt(realpathSync(watched.folder), `/${names.join('/')}`); // null for what lies outside, links that lead there too
  } catch {
    // the folder is not there, or the address is no UTF-8
  }
  if (place === null || !READABLE.test(place)) return none;
  const size = await stat(place)
    .then((found) => found.size)
    .catch(() => 0);
  return size > MAX_BYTES ? { status: 413, refused: `The file is ${TOO_LARGE}.` } : { place };
}
