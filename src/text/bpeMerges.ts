/** Two ids that become one; the earlier in the list, the sooner. */
export interface Merge {
  readonly left: number;
  readonly right: number;
  readonly merged: number;
}

/** In a key of the heap the place takes so many values; with up to 2²² merges a key is exact. */
const PLACES = 2 ** 31;

/** Looks up the rank of a merge by its two ids; −1 if there is none. A hash table with open addresses: a Map of 150,000 pairs takes four times as long. */
function rankTable(merges: readonly Merge[]): (left: number, right: number) => number {
  let bits = 4;
  while (1 << bits < merges.length * 2) bits++;
  const mask = (1 << bits) - 1;
  const ranks = new Int32Array(1 << bits).fill(-1);
  const lefts = Int32Array.from(merges, ({ left }) => left);
  const rights = Int32Array.from(merges, ({ right }) => right);
  const start = (left: number, right: number) =>
    (Math.imul(left, 0x9e3779b1) ^ Math.imul(right + 1, 0x85ebca6b)) >>> (32 - bits);
  const slot = (left: number, right: number) => {
    let at = start(left, right);
    for (;;) {
      const rank = ranks[at] ?? -1;
      if (rank < 0 || (lefts[rank] === left && rights[rank] === right)) return at;
      at = (at + 1) & mask;
    }
  };
  for (let rank = 0; rank < merges.length; rank++) {
    const at = slot(lefts[rank] ?? 0, rights[rank] ?? 0);
    if ((ranks[at] ?? -1) < 0) ranks[at] = rank; // the first of two that are equal
  }
  return (left, right) => ranks[slot(left, right)] ?? -1;
}

/**
 * Byte-pair encoding (Sennrich et al. 2016, arXiv:1508.07909): of all neighbours that may merge, those of the least rank do, from the left,
 * until none may. Takes the ids of a word's bytes and appends what is left of them to `out`. Time n log n for n bytes.
 */
export function merger(merges: readonly Merge[]): (bytes: readonly number[], out: number[]) => void {
  const rankOf = rankTable(merges);
  const mergedIds = Int32Array.from(merges, ({ merged }) => merged);
  const heap: number[] = [];
  return (bytes, out) => {
    const ids = [...bytes];
    const next = ids.map((_, i) => i + 1);
    const before = ids.map((_, i) => i - 1);
    const offer = (at: number) => {
      const after = next[at] ?? ids.length;
      if (after >= ids.length) return;
      const rank = rankOf(ids[at] ?? 0, ids[after] ?? 0);
      if (rank >= 0) pushLeast(heap, rank * PLACES + at);
    };
    heap.length = 0;
    for (let at = 0; at + 1 < ids.length; at++) offer(at);
    for (let key = popLeast(heap); key >= 0; key = popLeast(heap)) {
      const at = key % PLACES;
      const rank = (key - at) / PLACES;
      const after = next[at] ?? ids.length;
      const stale = ids[at] === GONE || after >= ids.length || rankOf(ids[at] ?? 0, ids[after] ?? 0) !== rank;
      if (stale) continue;
      ids[at] = mergedIds[rank] ?? 0;
      ids[after] = GONE;
      const far = next[after] ?? ids.length;
      next[at] = far;
      if (far < ids.length) before[far] = at;
      const back = before[at] ?? -1;
      if (back >= 0) offer(back);
      offer(at);
    }
    for (const id of ids) if (id !== GONE) out.push(id);
  };
}
const GONE = -1;

function pushLeast(heap: number[], key: number): void {
  let at = heap.length;
  heap.push(key);
  while (at > 0) {
    const up = (at - 1) >> 1;
    const above = heap[up] ?? 0;
    if (above <= key) break;
    heap[at] = above;
    at = up;
  }
  heap[at] = key;
}

/** Takes the least key out; −1 from an empty heap. */
function popLeast(heap: number[]): number {
  const least = heap[0];
  const last = heap.pop();
  if (least === undefined || last === undefined) return -1;
  const { length } = heap;
  if (length === 0) return least;
  let at = 0;
  for (;;) {
    let down = 2 * at + 1;
    if (down >= length) break;
    if (down + 1 < length && (heap[down + 1] ?? 0) < (heap[down] ?? 0)) down++;
    const below = heap[down] ?? 0;
    if (below >= last) break;
    heap[at] = below;
    at = down;
  }
  heap[at] = last;
  return least;
}
