/**
 * A database of this browser with one store, made if it isn't there. Whoever opens it closes it. Rejects with the reason in words: blocked,
 * refused, or kept by another tab. It may never settle: a browser's database can hang.
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
