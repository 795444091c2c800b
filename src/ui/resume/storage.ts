import type { Facts } from '../../facts/facts.ts';
import type { Checkpoint } from '../../checkpoint.ts';
import type { PageState } from './pageState.ts';

/** A run as this browser keeps it: one at a time, the newest. */
export interface SavedRun {
  readonly update: number;
  readonly name: string;
  readonly savedAt: number; // ms since 1970
  readonly checkpoint: Checkpoint;
  readonly facts: Facts | null; // a person's own, where the run asks about them
  readonly page: PageState;
}

const DATABASE = 'rollout-playground';
const STORE = 'runs';
const KEY = 'last';

/** Saves a run in place of the one before it. Rejects with the browser's reason. */
export function writeSaved(run: SavedRun): Promise<void> {
  return inStore('readwrite', (store) => store.put(run, KEY)).then(() => undefined);
}

/** What was saved, as it lies there: anybody may have touched it. Null when there is nothing, or no storage. */
export async function readSaved(): Promise<SavedRun | null> {
  const found: unknown = await inStore('readonly', (store) => store.get(KEY)).catch(() => null);
  const { update, savedAt, name } = (found ?? {}) as Partial<Readonly<Record<keyof SavedRun, unknown>>>;
  const offers = typeof update === 'number' && typeof savedAt === 'number' && typeof name === 'string';
  return offers ? (found as SavedRun) : null;
}

/** Forgets it. */
export async function dropSaved(): Promise<void> {
  await inStore('readwrite', (store) => store.delete(KEY)).catch(() => undefined);
}

async function inStore(mode: IDBTransactionMode, ask: (store: IDBObjectStore) => IDBRequest): Promise<unknown> {
  const database = await open();
  try {
    return await new Promise((resolve, reject) => {
      const transaction = database.transaction(STORE, mode);
      const request = ask(transaction.objectStore(STORE));
      const refuse = () => reject(transaction.error ?? request.error ?? new Error('the browser gave no reason'));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = refuse;
      transaction.onerror = refuse;
    });
  } finally {
    database.close();
  }
}

function open(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('the browser keeps no database here'));
    request.onblocked = () => reject(new Error('another tab holds the database'));
  });
}
