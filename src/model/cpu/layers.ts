import { type ModelConfig, rotaryFrequency } from '../architecture.ts';
import type { Real } from '../learning/real.ts';

/** Fills a table (T, D). Row p holds the D/2 cosines of p × frequency, then the D/2 sines. */
export function fillRotary(table: Real, model: ModelConfig): void {
  const headDim = model.head_dim;
  const half = headDim / 2;
  const frequencies = Array.from({ length: half }, (_, c) => rotaryFrequency(model, c));
  for (let at = 0; at < table.length; at += headDim) {
    for (const [c, frequency] of frequencies.entries()) {
      const angle = (at / headDim) * frequency;
      table[at + c] = Math.cos(angle);
      table[at + half + c] = Math.sin(angle);
    }
  }
}

/** Copies row ids[i] of `table` to row i of `out`, for i < n. Rows have d numbers. */
export function gatherRows(out: Real, table: Real, ids: Int32Array, n: number, d: number): void {
  for (let i = 0; i < n; i++) {
    const from = ids[i]! * d;
    for (let c = 0; c < d; c++) out[i * d + c] = table[from + c]!;
  }
}

/** Adds row i of `rows` to row ids[i] of `table`, in order of i. Rows have d numbers. */
export function scatterAddRows(table: Real, rows: Real, ids: Int32Array, n: number, d: number): void {
  for (let i = 0; i < n; i++) {
    const to = ids[i]! * d;
    for (let c = 0; c < d; c++) table[to + c] = table[to + c]! + rows[i * d + c]!;
  }
}
