import type { Batch } from './batchArrays.ts';
import type { HeadTargets } from './head.ts';
import type { Packed } from './transformer.ts';
import type { ValueTargets } from './valueHead.ts';

/** The work of one pass over some rows: the tokens to run, and the positions at which the heads predict. */
export interface Pass {
  readonly packed: Packed;
  readonly head: HeadTargets;
  readonly value: ValueTargets;
}

/**
 * The tokens of the batch that a pass scores: those in any of the (B,T) masks. null: every token except the first of
 * each row.
 */
export interface Wanted {
  readonly head: readonly ArrayLike<number>[] | null;
  readonly value: readonly ArrayLike<number>[] | null;
}

/**
 * Packs rows for a pass that scores the wanted tokens. **This function aligns states and tokens**: the hidden state at
 * position t − 1 predicts token t. So a row runs up to the token before its last wanted token, and not at all if no
 * token is wanted. Token 0 has no state before it and is never scored.
 */
export function packRows(batch: Batch, rows: Int32Array, wanted: Wanted): Pass {
  const ends = Int32Array.from(rows, (row) => lastWanted(batch, row, wanted));
  const total = ends.reduce((sum, end) => sum + end, 0);
  const tokens = new Int32Array(total);
  const positions = new Int32Array(total);
  const head = { positions: [] as number[], places: [] as number[] };
  const value = { positions: [] as number[], places: [] as number[] };
  let at = 0;
  for (let i = 0; i < rows.length; i++) {
    const start = rows[i]! * batch.length;
    const end = ends[i]!;
    for (let t = 0; t < end; t++) {
      tokens[at + t] = batch.tokens[start + t]!;
      positions[at + t] = t;
      const place = start + t + 1;
      if (isWanted(wanted.head, place)) {
        head.positions.push(at + t);
        head.places.push(place);
      }
      if (isWanted(wanted.value, place)) {
        value.positions.push(at + t);
        value.places.push(place);
      }
    }
    at += end;
  }
  const places = Int32Array.from(head.places);
  return {
    packed: { count: total, tokens, positions },
    head: {
      count: places.length,
      positions: Int32Array.from(head.positions),
      tokens: Int32Array.from(places, (place) => batch.tokens[place]!),
      states: Int32Array.from(places, (place) => batch.states[place]!),
      places,
    },
    value: {
      count: value.places.length,
      positions: Int32Array.from(value.positions),
      places: Int32Array.from(value.places),
    },
  };
}

const isWanted = (masks: Wanted['head'], place: number) => masks?.some((mask) => mask[place] !== 0) ?? true;

/** Returns the index of the last wanted token in its row, or 0 if there is none. */
function lastWanted(batch: Batch, row: number, wanted: Wanted): number {
  for (let t = batch.lengths[row]! - 1; t > 0; t--) {
    const place = row * batch.length + t;
    if (isWanted(wanted.head, place) || isWanted(wanted.value, place)) return t;
  }
  return 0;
}
