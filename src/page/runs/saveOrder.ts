const LAST_ORDER_KEY = 'rollout-playground-saves-counted';

let highestOrder = 0; // highest number that this tab has given out or read

/** A number above those of all saves so far in this browser. Saves are ordered by it, because a clock may be set back. */
export function nextOrder(): number {
  highestOrder = Math.max(highestOrder, storedOrder()) + 1;
  try {
    localStorage.setItem(LAST_ORDER_KEY, String(highestOrder));
  } catch {
    // without storage, `highestOrder` still covers the saves that were read
  }
  return highestOrder;
}

/** Notes the number of a save that was read, so that the next number is higher. */
export function noteOrder(order: number): void {
  highestOrder = Math.max(highestOrder, order);
}

function storedOrder(): number {
  try {
    const count = Number(globalThis.localStorage.getItem(LAST_ORDER_KEY));
    return Number.isSafeInteger(count) ? count : 0;
  } catch {
    return 0;
  }
}

/** Sorts saves, the newest first. Older pages gave no numbers: their saves come last, by the time they were saved. */
export function newestFirst(
  a: { readonly order: number; readonly savedAt: number },
  b: { readonly order: number; readonly savedAt: number },
): number {
  return b.order - a.order || b.savedAt - a.savedAt;
}
