import { openDatabase } from '../../base/openDatabase.ts';
import { newestFirst } from './saveOrder.ts';
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

/**
 * Reads all saves at once. Rejects with the reason if they cannot be read. If it takes longer than five seconds,
 * `onTimeout` is called with a message, and reading goes on.
 */
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

/** The slots that have a save, oldest save first. Damaged saves count as the oldest. */
export async function usedSaveSlots(): Promise<readonly string[]> {
  const saves = await readAll(() => undefined);
  const ordered = saves.map(({ slot, value }) => {
    const { order, savedAt } = (value ?? {}) as Readonly<Record<string, unknown>>;
    return { slot, order: Number(order ?? 0) || 0, savedAt: Number(savedAt) || 0 };
  });
  return ordered.toSorted((a, b) => newestFirst(b, a)).map(({ slot }) => slot);
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
