const STORAGE_PREFIX = 'rollout-playground';

/** Deletes everything that the page stored in this browser, and reloads it. For when stored data breaks the page itself. */
export async function deleteLocalData(): Promise<void> {
  try {
    for (const key of Object.keys(localStorage).filter((name) => name.startsWith(STORAGE_PREFIX)))
      localStorage.removeItem(key);
  } catch {
    // storage is blocked, so nothing is stored
  }
  await Promise.all([STORAGE_PREFIX, `${STORAGE_PREFIX}-kernels`].map(deleteDatabase));
  location.assign(location.pathname);
}

/** Resolves when it is gone, on an error, and after two seconds without an answer: the page reloads in any case. */
function deleteDatabase(name: string): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 2000);
    try {
      const request = indexedDB.deleteDatabase(name);
      request.onsuccess = () => resolve();
      request.onerror = () => resolve();
    } catch {
      resolve();
    }
  });
}
