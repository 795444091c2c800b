import { storedWord, storeWord } from '../browser/keptText.ts';

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
