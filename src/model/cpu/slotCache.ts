import type { Arithmetic } from './arithmetic.ts';

/**
 * A table of the slots that hold the keys and values of each row's tokens. Rows with a common beginning share its
 * slots.
 */
export interface SlotCache {
  readonly length: number; // T
  readonly tables: Int32Array; // (B, T) the slot of each token
  readonly counts: Int32Array; // (B) number of tokens of each row that have a slot
  readonly uses: Int32Array; // (slots) number of rows that use each slot
  readonly free: number[]; // slots that no row uses; the last one is given out next
}

/** Creates a cache of `slots` slots, all free. */
export function createSlotCache({ integers }: Arithmetic, rows: number, length: number, slots: number): SlotCache {
  return {
    length,
    tables: integers(rows * length),
    counts: new Int32Array(rows),
    uses: new Int32Array(slots),
    free: Array.from({ length: slots }, (_, i) => slots - 1 - i),
  };
}

/**
 * Gives a new slot to each of the row's next `count` tokens. Throws if too few slots are free; callers check this
 * first.
 */
export function takeSlots({ length, tables, counts, uses, free }: SlotCache, row: number, count: number): void {
  for (let i = 0; i < count; i++) {
    const slot = free.pop();
    if (slot === undefined) throw new Error('takeSlots: all slots are taken. Reserve one for each token first.');
    uses[slot] = 1;
    tables[row * length + counts[row]!] = slot;
    counts[row] = counts[row]! + 1;
  }
}

/** Makes the empty row `to` use the slots of the first `count` tokens of row `from`. */
export function shareSlots({ length, tables, counts, uses }: SlotCache, from: number, to: number, count: number): void {
  for (let t = 0; t < count; t++) {
    const slot = tables[from * length + t]!;
    uses[slot] = uses[slot]! + 1;
    tables[to * length + t] = slot;
  }
  counts[to] = count;
}

/** Removes a row's tokens from position `count` on from the cache. Slots that no other row uses become free. */
export function releaseSlots({ length, tables, counts, uses, free }: SlotCache, row: number, count: number): void {
  for (let t = counts[row]! - 1; t >= count; t--) {
    const slot = tables[row * length + t]!;
    uses[slot] = uses[slot]! - 1;
    if (uses[slot] === 0) free.push(slot);
  }
  counts[row] = Math.min(counts[row]!, count);
}
