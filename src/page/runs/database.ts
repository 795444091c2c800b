import { isRecord, type JsonRecord } from '../../base/jsonRecord.ts';
import { type TrainedRun, newestFirst } from './keepRule.ts';
import { type SavedRun, saveRecord } from './saveRecord.ts';

/** What one slot of the store holds. The value may be damaged or come from another version of the page. */
export interface StoredSave {
  readonly slot: string;
  readonly value: unknown;
}

const DATABASE = 'rollout-playground';
const STORE = 'runs';
const TIMEOUT_MS = 5000;
const TIMEOUT_TEXT = `the browser's database has not answered for ${TIMEOUT_MS / 1000} s; close other tabs of this page, or restart the browser`;

/** Writes a run to a slot, in place of its content. Rejects with an error whose message is the reason. */
export function writeSave(slot: string, saved: SavedRun): Promise<void> {
  return runTransaction('readwrite', (store) => [store.put(saveRecord(saved), slot)]).then(() => undefined);
}

/** Reads all saves at once; rejects with the reason. After five seconds, calls `onTimeout` with a message and goes on reading. */
export async function readAll(onTimeout: (message: string) => void): Promise<readonly StoredSave[]> {
  const timer = setTimeout(() => onTimeout(TIMEOUT_TEXT), TIMEOUT_MS);
  try {
    const [keys, values] = (await runTransaction(
      'readonly',
      (store) => [store.getAllKeys(), store.getAll()],
      (work) => work,
    )) as readonly [readonly IDBValidKey[], readonly unknown[]];
    return keys.flatMap((slot, i) => (typeof slot === 'string' ? [{ slot, value: values[i] }] : []));
  } finally {
    clearTimeout(timer);
  }
}

/** What can be said of a save without reading it whole. */
interface SaveSummary extends TrainedRun {
  readonly slot: string;
  readonly name: string;
}

export async function summarizeSaves(): Promise<readonly SaveSummary[]> {
  return summariesOf(await readAll(() => undefined));
}

/** What can be said of these saves, the oldest first. Damaged ones count as the oldest and shortest. */
export function summariesOf(stored: readonly StoredSave[]): readonly SaveSummary[] {
  const saves = stored.map(({ slot, value }) => {
    const save = isRecord(value) ? value : {};
    return { slot, save, order: Number(save['order'] ?? 0) || 0, savedAt: Number(save['savedAt']) || 0 };
  });
  const oldestFirst = saves.toSorted((a, b) => newestFirst(b, a));
  return oldestFirst.map(({ slot, save, savedAt }, order) => {
    const manifest = isRecord(save['manifest']) ? save['manifest'] : {};
    const { name, ...run } = isRecord(manifest['run']) ? manifest['run'] : {};
    return { slot, order, name: typeof name === 'string' ? name : '', seconds: secondsOf(run, save, savedAt) };
  });
}

/** How long a saved run trained, in seconds. Older pages didn't save it: then the time from its start to the save. */
function secondsOf(run: JsonRecord, save: JsonRecord, savedAt: number): number {
  if (typeof run['seconds'] === 'number') return run['seconds'];
  if ('page' in save) return Infinity; // an older page, which saved no start either
  return Math.max(0, (savedAt - Date.parse(String(run['started']))) / 1000) || 0;
}

/** Deletes the content of a slot. Rejects with an error whose message is the reason. */
export function deleteSave(slot: string): Promise<void> {
  return runTransaction('readwrite', (store) => [store.delete(slot)]).then(() => undefined);
}

/** Runs a transaction and resolves with the results of its requests. `limitTime` may reject if that takes too long. */
async function runTransaction(
  mode: IDBTransactionMode,
  makeRequests: (store: IDBObjectStore) => readonly { readonly result: unknown }[],
  limitTime: <T>(work: Promise<T>) => Promise<T> = withTimeout,
): Promise<readonly unknown[]> {
  let database: IDBDatabase | null = null;
  let settled = false;
  const work = async () => {
    const openedDatabase = await openDatabase(DATABASE, STORE);
    if (settled) openedDatabase.close(); // it opened after the time limit, so nobody waits for it
    database = openedDatabase;
    return new Promise<readonly unknown[]>((resolve, reject) => {
      const transaction = openedDatabase.transaction(STORE, mode);
      const requests = makeRequests(transaction.objectStore(STORE));
      const fail = () => reject(transaction.error ?? new Error('the browser gave no reason'));
      transaction.oncomplete = () => resolve(requests.map(({ result }) => result));
      transaction.onabort = fail;
      transaction.onerror = fail;
      // commit at once, because the page may be closing; not when reading, where Chromium may never finish for a large
      // value
      if (mode === 'readwrite') transaction.commit();
    });
  };
  try {
    return await limitTime(work());
  } finally {
    settled = true;
    (database as IDBDatabase | null)?.close();
  }
}

/** Passes on `work`, but rejects if it takes longer than five seconds, because a database may hang forever. */
function withTimeout<T>(work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(TIMEOUT_TEXT)), TIMEOUT_MS);
  });
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}

/**
 * Opens a database of this browser. It has one store, which is made if it is missing. The caller closes the database.
 * Rejects with an error that says why: the browser blocks or refuses it, or another tab is using it. The promise may
 * never settle, because a browser's database can hang.
 */
function openDatabase(name: string, store: string): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const { indexedDB } = globalThis as { readonly indexedDB?: IDBFactory | null };
    if (!indexedDB) throw new Error('the browser blocks the database of this page');
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(store);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('the browser has no database here'));
    request.onblocked = () => reject(new Error('another tab is using the database'));
  });
}
