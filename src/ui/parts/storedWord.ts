/** Keeps a word of this browser for the next visit; where storage is refused it lasts as long as the page. */
export function storeWord(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // private windows may refuse storage
  }
}

/** A word that was kept; null without one, or without storage. */
export function storedWord(key: string): string | null {
  try {
    return globalThis.localStorage.getItem(key);
  } catch {
    return null;
  }
}
