import { openDatabase } from '../../base/openDatabase.ts';
import { newestFirst } from './saveOrder.ts';
import { type Saved, saveRecord } from './saveRecord.ts';

/** What lies at one place of the store: anybody may have touched it. */
export interface Kept {
  readonly slot: string;
  readonly value: unknown;
}

const DATABASE = 'rollout-playground';
const STORE = 'runs';
const PATIENCE_MS = 5000;
const LATE = `the browser's database has not answered for ${PATIENCE_MS / 1000} s; close other tabs of this page, or restart the browser`;

/** Writes a run to a slot, in place of what was there. Rejects with the reason in words. */
export function writeSaved(slot: string, saved: Saved): Promise<void> {
  return inStore('readwrite', (store) => [store.put(saveRecord(saved), slot)]).then(() => undefined);
}

/**
 * All that was saved, read at once. Rejects with the reason in words where it cannot be read; one that only takes long is waited for, and
 * `late` hears after five seconds that it has not come.
 */
export async function readAll(late: (words: string) => void): Promise<readonly Kept[]> {
  const timer = setTimeout(() => late(LATE), PATIENCE_MS);
  try {
    const [keys, values] = (await inStore(
      'readonly',
      (store) => [store.getAllKeys(), store.getAll()],
      (work) => work,
    )) as readonly [readonly IDBValidKey[], readonly unknown[]];
    return keys.flatMap((slot, i) => (typeof slot === 'string' ? [{ slot, value: values[i] }] : []));
  } finally {
    clearTimeout(timer);
  }
}

/** Where something is saved, oldest save first; damaged ones count as the oldest. */
export async function usedSaveSlots(): Promise<readonly string[]> {
  const saves = await readAll(() => undefined);
  const ordered = saves.map(({ slot, value }) => {
    const { order, savedAt } = (value ?? {}) as Readonly<Record<string, unknown>>;
    return { slot, order: Number(order ?? 0) || 0, savedAt: Number(savedAt) || 0 };
  });
  return ordered.toSorted((a, b) => newestFirst(b, a)).map(({ slot }) => slot);
}

/** Forgets what lies at a slot. Rejects with the reason in words. */
export function dropSaved(slot: string): Promise<void> {
  return inStore('readwrite', (store) => [store.delete(slot)]).then(() => undefined);
}

/** What a transaction's requests come to; `within` bounds how long it may take. */
async function inStore(
  mode: IDBTransactionMode,
  ask: (store: IDBObjectStore) => readonly { readonly result: unknown }[],
  within: <T>(work: Promise<T>) => Promise<T> = answered,
): Promise<readonly unknown[]> {
  let database: IDBDatabase | null = null;
  let given = false;
  const work = async () => {
    const opened = await openDatabase(DATABASE, STORE);
    if (given) opened.close(); // too late: nobody waits any more
    database = opened;
    return new Promise<readonly unknown[]>((resolve, reject) => {
      const transaction = opened.transaction(STORE, mode);
      const requests = ask(transaction.objectStore(STORE));
      const refuse = () => reject(transaction.error ?? new Error('the browser gave no reason'));
      transaction.oncomplete = () => resolve(requests.map(({ result }) => result));
      transaction.onabort = refuse;
      transaction.onerror = refuse;
      // a page that is being left waits for no answer; a reading of a large value that is committed may never end in Chromium
      if (mode === 'readwrite') transaction.commit();
    });
  };
  try {
    return await within(work());
  } finally {
    given = true;
    (database as IDBDatabase | null)?.close();
  }
}

/** The same, or a rejection where nothing has come for five seconds: a database may hang for good. */
function answered<T>(work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(LATE)), PATIENCE_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
