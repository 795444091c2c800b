/** Stores a word in this browser for the next visit. Does nothing if storage is blocked. */
export function storeWord(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // private windows may refuse storage
  }
}

/** A stored word. Null if there is none or storage is blocked. */
export function storedWord(key: string): string | null {
  try {
    return globalThis.localStorage.getItem(key);
  } catch {
    return null;
  }
}
