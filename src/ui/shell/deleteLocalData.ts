const PREFIX = 'rollout-playground';

/** Deletes everything that the page stored in this browser, and reloads it. For when stored data breaks the page itself. */
export async function deleteLocalData(): Promise<void> {
  try {
    for (const key of Object.keys(localStorage).filter((name) => name.startsWith(PREFIX))) localStorage.removeItem(key);
  } catch {
    // where storage is refused nothing is kept
  }
  await Promise.all([PREFIX, `${PREFIX}-kernels`].map(deleted));
  location.assign(location.pathname);
}

/** Resolves when a database is gone, or when the browser has not answered for two seconds: the page is loaded again in any case. */
function deleted(name: string): Promise<void> {
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
