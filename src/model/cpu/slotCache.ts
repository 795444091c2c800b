import type { Arithmetic } from './arithmetic.ts';

/** Rows with a common beginning share its slots. */
export interface SlotCache {
  readonly length: number; // T
  readonly tables: Int32Array; // (B, T) the slot of each token
  readonly cachedCounts: Int32Array; // (B) number of tokens of each row that have a slot
  readonly useCounts: Int32Array; // (slots) number of rows that use each slot
  readonly freeSlots: number[]; // slots that no row uses; the last of the list is taken next
}

export function createSlotCache({ integers }: Arithmetic, rows: number, length: number, slots: number): SlotCache {
  return {
    length,
    tables: integers(rows * length),
    cachedCounts: new Int32Array(rows),
    useCounts: new Int32Array(slots),
    freeSlots: Array.from({ length: slots }, (_, i) => slots - 1 - i),
  };
}

/** Throws if too few slots are free; callers check this first. */
export function takeSlots(
  { length, tables, cachedCounts, useCounts, freeSlots }: SlotCache,
  row: number,
  count: number,
): void {
  for (let i = 0; i < count; i++) {
    const slot = freeSlots.pop();
    if (slot === undefined) throw new Error('takeSlots: all slots are taken. Reserve one for each token first.');
    useCounts[slot] = 1;
    tables[row * length + cachedCounts[row]!] = slot;
    cachedCounts[row] = cachedCounts[row]! + 1;
  }
}

/** Makes the empty row `toRow` use the slots of the first `count` tokens of row `fromRow`. */
export function shareSlots(
  { length, tables, cachedCounts, useCounts }: SlotCache,
  fromRow: number,
  toRow: number,
  count: number,
): void {
  for (let t = 0; t < count; t++) {
    const slot = tables[fromRow * length + t]!;
    useCounts[slot] = useCounts[slot]! + 1;
    tables[toRow * length + t] = slot;
  }
  cachedCounts[toRow] = count;
}

/** Removes a row's tokens from position `count` on from the cache. Slots that no other row uses become free. */
export function releaseSlots(
  { length, tables, cachedCounts, useCounts, freeSlots }: SlotCache,
  row: number,
  count: number,
): void {
  for (let t = cachedCounts[row]! - 1; t >= count; t--) {
    const slot = tables[row * length + t]!;
    useCounts[slot] = useCounts[slot]! - 1;
    if (useCounts[slot] === 0) freeSlots.push(slot);
  }
  cachedCounts[row] = Math.min(cachedCounts[row]!, count);
}
