/** Two adjacent ids that are replaced by one. The index in a list of merges is the rank; lower ranks apply first. */
export interface Merge {
  readonly left: number;
  readonly right: number;
  readonly merged: number;
}

/** A key of the heap is rank · KEY_BASE + position. Keys are exact integers for up to 2²² merges. */
const KEY_BASE = 2 ** 31;

/**
 * Makes a function that returns the rank of a merge by its two ids; −1 if there is no such merge. It uses a hash table
 * with open addressing, because a Map of 150,000 pairs takes four times as long.
 */
function rankTable(merges: readonly Merge[]): (left: number, right: number) => number {
  let bits = 4;
  while (1 << bits < merges.length * 2) bits++;
  const mask = (1 << bits) - 1;
  const ranks = new Int32Array(1 << bits).fill(-1);
  const lefts = Int32Array.from(merges, ({ left }) => left);
  const rights = Int32Array.from(merges, ({ right }) => right);
  const hash = (left: number, right: number) =>
    (Math.imul(left, 0x9e3779b1) ^ Math.imul(right + 1, 0x85ebca6b)) >>> (32 - bits);
  const findSlot = (left: number, right: number) => {
    let at = hash(left, right);
    for (;;) {
      const rank = ranks[at] ?? -1;
      if (rank < 0 || (lefts[rank] === left && rights[rank] === right)) return at;
      at = (at + 1) & mask;
    }
  };
  for (let rank = 0; rank < merges.length; rank++) {
    const at = findSlot(lefts[rank] ?? 0, rights[rank] ?? 0);
    if ((ranks[at] ?? -1) < 0) ranks[at] = rank; // if a merge occurs twice, its first rank counts
  }
  return (left, right) => ranks[findSlot(left, right)] ?? -1;
}

/**
 * Makes a function for byte-pair encoding (Sennrich et al. 2016, arXiv:1508.07909). It takes the ids of a word's bytes,
 * merges the adjacent pair with the lowest rank (the leftmost if several have it) until no pair can be merged, and
 * appends the ids to `out`. It takes time n log n for n bytes.
 */
export function merger(merges: readonly Merge[]): (bytes: readonly number[], out: number[]) => void {
  const rankOf = rankTable(merges);
  const mergedIds = Int32Array.from(merges, ({ merged }) => merged);
  const heap: number[] = [];
  return (bytes, out) => {
    const ids = [...bytes];
    const next = ids.map((_, i) => i + 1);
    const previous = ids.map((_, i) => i - 1);
    const pushMerge = (at: number) => {
      const after = next[at] ?? ids.length;
      if (after >= ids.length) return;
      const rank = rankOf(ids[at] ?? 0, ids[after] ?? 0);
      if (rank >= 0) heapPush(heap, rank * KEY_BASE + at);
    };
    heap.length = 0;
    for (let at = 0; at + 1 < ids.length; at++) pushMerge(at);
    for (let key = heapPop(heap); key >= 0; key = heapPop(heap)) {
      const at = key % KEY_BASE;
      const rank = (key - at) / KEY_BASE;
      const after = next[at] ?? ids.length;
      const stale = ids[at] === MERGED_AWAY || after >= ids.length || rankOf(ids[at] ?? 0, ids[after] ?? 0) !== rank;
      if (stale) continue;
      ids[at] = mergedIds[rank] ?? 0;
      ids[after] = MERGED_AWAY;
      const newNext = next[after] ?? ids.length;
      next[at] = newNext;
      if (newNext < ids.length) previous[newNext] = at;
      const left = previous[at] ?? -1;
      if (left >= 0) pushMerge(left);
      pushMerge(at);
    }
    for (const id of ids) if (id !== MERGED_AWAY) out.push(id);
  };
}
/** Marks a position whose id was merged into its left neighbour. */
const MERGED_AWAY = -1;

function heapPush(heap: number[], key: number): void {
  let at = heap.length;
  heap.push(key);
  while (at > 0) {
    const parent = (at - 1) >> 1;
    const parentKey = heap[parent] ?? 0;
    if (parentKey <= key) break;
    heap[at] = parentKey;
    at = parent;
  }
  heap[at] = key;
}

/** Removes and returns the smallest key; −1 if the heap is empty. */
function heapPop(heap: number[]): number {
  const least = heap[0];
  const last = heap.pop();
  if (least === undefined || last === undefined) return -1;
  const { length } = heap;
  if (length === 0) return least;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= length) break;
    if (child + 1 < length && (heap[child + 1] ?? 0) < (heap[child] ?? 0)) child++;
    const childKey = heap[child] ?? 0;
    if (childKey >= last) break;
    heap[at] = childKey;
    at = child;
  }
  heap[at] = last;
  return least;
}
