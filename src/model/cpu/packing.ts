import type { Batch, ScoreMasks } from '../learning/batchArrays.ts';
import type { TokenRange } from './activations.ts';
import type { HeadTargets } from './head.ts';
import { PASS_PARTS } from './team/team.ts';
import type { PackedTokens } from './transformer.ts';
import type { ValueTargets } from '../learning/valueHead.ts';

/** The work of one pass over some rows: the tokens to run, and the positions at which the heads predict. */
export interface Pass {
  readonly packedTokens: PackedTokens;
  readonly parts: readonly TokenRange[];
  readonly headTargets: HeadTargets;
  readonly valueTargets: ValueTargets;
}

/**
 * Packs rows for a pass that scores the tokens in `masks`. **This function aligns states and tokens**: the hidden state
 * at position t − 1 predicts token t. So a row runs up to the token before its last scored token, and not at all if no
 * token is scored. Token 0 has no state before it and is never scored.
 */
export function packRows(batch: Batch, rows: Int32Array, masks: ScoreMasks): Pass {
  const ends = Int32Array.from(rows, (row) => lastScored(batch, row, masks));
  const total = ends.reduce((sum, end) => sum + end, 0);
  const tokens = new Int32Array(total);
  const positions = new Int32Array(total);
  const head = { positions: [] as number[], batchIndices: [] as number[] };
  const value = { positions: [] as number[], batchIndices: [] as number[] };
  let packedStart = 0;
  for (let i = 0; i < rows.length; i++) {
    const start = rows[i]! * batch.length;
    const end = ends[i]!;
    for (let t = 0; t < end; t++) {
      tokens[packedStart + t] = batch.tokens[start + t]!;
      positions[packedStart + t] = t;
      const batchIndex = start + t + 1;
      if (isScored(masks.head, batchIndex)) {
        head.positions.push(packedStart + t);
        head.batchIndices.push(batchIndex);
      }
      if (isScored(masks.value, batchIndex)) {
        value.positions.push(packedStart + t);
        value.batchIndices.push(batchIndex);
      }
    }
    packedStart += end;
  }
  const batchIndices = Int32Array.from(head.batchIndices);
  return {
    packedTokens: { count: total, tokens, positions },
    parts: divideRows(positions),
    headTargets: {
      count: batchIndices.length,
      positions: Int32Array.from(head.positions),
      tokens: Int32Array.from(batchIndices, (batchIndex) => batch.tokens[batchIndex]!),
      states: Int32Array.from(batchIndices, (batchIndex) => batch.states[batchIndex]!),
      batchIndices: batchIndices,
    },
    valueTargets: {
      count: value.batchIndices.length,
      positions: Int32Array.from(value.positions),
      batchIndices: Int32Array.from(value.batchIndices),
    },
  };
}

const isScored = (masks: ScoreMasks['head'], batchIndex: number) =>
  masks?.some((mask) => mask[batchIndex] !== 0) ?? true;

/** Returns the index of the last scored token in its row, or 0 if there is none. */
function lastScored(batch: Batch, row: number, masks: ScoreMasks): number {
  for (let t = batch.lengths[row]! - 1; t > 0; t--) {
    const batchIndex = row * batch.length + t;
    if (isScored(masks.head, batchIndex) || isScored(masks.value, batchIndex)) return t;
  }
  return 0;
}

/** Tokens of a part, at least: a smaller one takes little longer than handing it out. */
export const MIN_PART_TOKENS = 128;

/** Divides packed rows into parts of about as many tokens. Depends only on the lengths of the rows. */
function divideRows(positions: Int32Array): readonly TokenRange[] {
  const total = positions.length;
  const count = Math.max(1, Math.min(PASS_PARTS, Math.floor(total / MIN_PART_TOKENS)));
  const parts: TokenRange[] = [];
  let [from, pairsBefore, pairs] = [0, 0, 0];
  for (let i = 0; i < total; i++) {
    pairs += positions[i]! + 1;
    const endsRow = i + 1 === total || positions[i + 1] === 0;
    if (!endsRow || (i + 1) * count < total * (parts.length + 1)) continue;
    parts.push({ index: parts.length, from, count: i + 1 - from, pairsBefore });
    [from, pairsBefore] = [i + 1, pairs];
  }
  return parts;
}
