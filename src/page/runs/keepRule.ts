import { storedWord, storeWord } from '../browser/storedWord.ts';

export interface TrainedRun {
  readonly order: number; // later runs have higher numbers
  readonly seconds: number; // how long it trained
}

/**
 * The number of later runs that trained at least as long as this one. When it reaches a limit, the run may be dropped:
 * so a run of minutes is never dropped for runs of seconds.
 */
export function longerLaterRuns({ order, seconds }: TrainedRun, runs: readonly TrainedRun[]): number {
  return runs.filter((other) => other.order > order && other.seconds >= seconds).length;
}

/** The runs that may be dropped: of each, at least `limit` later runs trained at least as long. */
export function droppableRuns<T extends TrainedRun>(runs: readonly T[], limit: number): readonly T[] {
  return runs.filter((run) => longerLaterRuns(run, runs) >= limit);
}

const STORAGE_KEY = 'rollout-playground-saves-pinned';

/** The slots whose saved runs a person chose to keep until they delete them. */
export function pinnedSlots(): ReadonlySet<string> {
  return new Set((storedWord(STORAGE_KEY) ?? '').split(' ').filter((slot) => slot !== ''));
}

export function setPinned(slot: string, pinned: boolean): void {
  const slots = new Set(pinnedSlots());
  if (pinned) slots.add(slot);
  else slots.delete(slot);
  storeWord(STORAGE_KEY, [...slots].join(' '));
}

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
