/** A place for values by text that outlives the page. Reading anything odd, or from no place at all, gives null. */
export interface TuningStore {
  readonly read: (key: string) => Promise<unknown>;
  readonly write: (key: string, value: unknown) => Promise<void>;
}

const DATABASE = 'rollout-playground-kernels';
const STORE = 'tunings';

/** The browser's database, from a worker or a page. A browser that keeps none, or a full one, loses nothing but the tuning. */
export function browserStore(): TuningStore {
  return {
    read: (key) => within('readonly', (store) => store.get(key)).catch(() => null),
    write: (key, value) =>
      within('readwrite', (store) => store.put(value, key)).then(
        () => undefined,
        () => undefined,
      ),
  };
}

async function within(mode: IDBTransactionMode, ask: (store: IDBObjectStore) => IDBRequest): Promise<unknown> {
  const database = await new Promise<IDBDatabase>((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('the browser keeps no database here'));
    request.onblocked = () => reject(new Error('another tab holds the database'));
  });
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
