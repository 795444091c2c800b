import { openDatabase } from '../base/openDatabase.ts';

/** A key-value store that outlives the page. Reading gives null if there is no usable value or no store. */
export interface TuningStore {
  readonly read: (key: string) => Promise<unknown>;
  readonly write: (key: string, value: unknown) => Promise<void>;
}

const DATABASE = 'rollout-playground-kernels';
const STORE = 'tunings';

/** Longest wait for the database. */
const TIMEOUT_MS = 2000;

/** IndexedDB, from a worker or a page. If it is missing, full or silent for two seconds, only the stored tuning is lost. */
export function browserStore(): TuningStore {
  return {
    read: (key) =>
      orAfterTimeout(
        runRequest('readonly', (store) => store.get(key)),
        null,
      ),
    write: (key, value) =>
      orAfterTimeout(
        runRequest('readwrite', (store) => store.put(value, key)).then(() => undefined),
        undefined,
      ),
  };
}

/** `fallback` if it fails or takes too long, because a run must not wait for a store that hangs. */
function orAfterTimeout<T>(answer: Promise<T>, fallback: T): Promise<T> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(fallback), TIMEOUT_MS);
    const settle = (value: T) => {
      clearTimeout(timer);
      resolve(value);
    };
    answer.then(settle, () => settle(fallback));
  });
}

async function runRequest(mode: IDBTransactionMode, ask: (store: IDBObjectStore) => IDBRequest): Promise<unknown> {
  const database = await openDatabase(DATABASE, STORE);
  try {
    return await new Promise((resolve, reject) => {
      const request = ask(database.transaction(STORE, mode).objectStore(STORE));
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error ?? new Error('the browser gave no reason'));
    });
  } finally {
    database.close();
  }
}
