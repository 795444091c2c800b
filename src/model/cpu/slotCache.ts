import type { Arithmetic } from './arithmetic.ts';

/** Which slots hold the keys and values of each row's tokens; rows that begin alike share slots. */
export interface SlotCache {
  readonly length: number; // T
  readonly tables: Int32Array; // (B, T) the slot of each token
  readonly counts: Int32Array; // (B) tokens of each row that have one
  readonly uses: Int32Array; // (slots) rows that read each
  readonly free: number[]; // slots that nobody reads, the next to be given last
}

/** A cache of so many slots, all free. */
export function createSlotCache({ integers }: Arithmetic, rows: number, length: number, slots: number): SlotCache {
  return {
    length,
    tables: integers(rows * length),
    counts: new Int32Array(rows),
    uses: new Int32Array(slots),
    free: Array.from({ length: slots }, (_, i) => slots - 1 - i),
  };
}

/** Gives the row's next `count` tokens slots of their own. Throws where too few are free, which callers rule out first. */
export function takeSlots({ length, tables, counts, uses, free }: SlotCache, row: number, count: number): void {
  for (let i = 0; i < count; i++) {
    const slot = free.pop();
    if (slot === undefined) throw new Error('takeSlots: all slots are taken. Reserve one for each token first.');
    uses[slot] = 1;
    tables[row * length + counts[row]!] = slot;
    counts[row] = counts[row]! + 1;
  }
}

/** An empty row reads the first `count` tokens of another. */
export function shareSlots({ length, tables, counts, uses }: SlotCache, from: number, to: number, count: number): void {
  for (let t = 0; t < count; t++) {
    const slot = tables[from * length + t]!;
    uses[slot] = uses[slot]! + 1;
    tables[to * length + t] = slot;
  }
  counts[to] = count;
}

/** Forgets a row's tokens from `count` on. */
export function releaseSlots({ length, tables, counts, uses, free }: SlotCache, row: number, count: number): void {
  for (let t = counts[row]! - 1; t >= count; t--) {
    const slot = tables[row * length + t]!;
    uses[slot] = uses[slot]! - 1;
    if (uses[slot] === 0) free.push(slot);
  }
  counts[row] = Math.min(counts[row]!, count);
}
