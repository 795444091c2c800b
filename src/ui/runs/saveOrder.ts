const COUNTED = 'rollout-playground-saves-counted';

let highest = 0; // that this tab has given or read

/** A number above those of all saves so far in this browser. Saves are ordered by it, because a clock may be set back. */
export function nextOrder(): number {
  highest = Math.max(highest, counted()) + 1;
  try {
    localStorage.setItem(COUNTED, String(highest));
  } catch {
    // without this storage the saves that were read still count
  }
  return highest;
}

/** Notes the number of a save that was read: the next one is above it. */
export function noteOrder(order: number): void {
  highest = Math.max(highest, order);
}

function counted(): number {
  try {
    const count = Number(globalThis.localStorage.getItem(COUNTED));
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
