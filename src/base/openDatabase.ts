/**
 * Opens a database of this browser. It has one store, which is made if it is missing. The caller closes the database.
 * Rejects with an error that says why: the browser blocks or refuses it, or another tab is using it. The promise may
 * never settle, because a browser's database can hang.
 */
export function openDatabase(name: string, store: string): Promise<IDBDatabase> {
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
