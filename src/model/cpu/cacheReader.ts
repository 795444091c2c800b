import type { Activations } from './activations.ts';
import type { Batch } from './batchArrays.ts';
import { type Cache, cachedAttention, createCache } from './cache.ts';
import type { RowReader } from './decoder.ts';
import { gatherRows } from './layers.ts';
import type { Tensors } from './network.ts';
import type { Real } from './real.ts';
import { forward } from './transformer.ts';

/** Reads rows with a cache of keys and values, a place for each token of each row. */
export class CacheReader implements RowReader {
  readonly #batch: Batch;
  readonly #room: Activations;
  readonly #tensors: Tensors;
  readonly #rotary: Real;
  readonly #cache: Cache;
  readonly #hidden: Real; // (B, d)

  constructor(batch: Batch, room: Activations, tensors: Tensors, rotary: Real) {
    const { arithmetic } = room;
    this.#batch = batch;
    this.#room = room;
    this.#tensors = tensors;
    this.#rotary = rotary;
    this.#cache = createCache(arithmetic, batch.rows, batch.length);
    this.#hidden = arithmetic.reals(batch.rows * arithmetic.model.hidden_size);
  }

  forget(): void {
    this.#cache.filled.fill(0);
  }

  forgetRow(row: number): void {
    this.#cache.filled[row] = 0;
  }

  read(active: readonly number[], logits: Real): void {
    const { length, lengths } = this.#batch;
    const { filled } = this.#cache;
    const { model, matmulNT } = this.#room.arithmetic;
    const total = active.reduce((sum, b) => sum + lengths[b]! - filled[b]!, 0);
    const packed = {
      count: total,
      tokens: new Int32Array(total),
      positions: new Int32Array(total),
      rows: new Int32Array(total),
    };
    const last = new Int32Array(active.length);
    let at = 0;
    for (const [i, b] of active.entries()) {
      for (let t = filled[b]!; t < lengths[b]!; t++) {
        packed.tokens[at] = this.#batch.tokens[b * length + t]!;
        packed.positions[at] = t;
        packed.rows[at] = b;
        at++;
      }
      last[i] = at - 1;
      filled[b] = lengths[b]!;
    }
    const attend = cachedAttention(this.#room, this.#cache, packed);
    forward(this.#room, this.#tensors, packed, this.#rotary, attend, false);
    gatherRows(this.#hidden, this.#room.hidden, last, active.length, model.hidden_size);
    matmulNT(logits, this.#hidden, this.#tensors.head, active.length, model.vocab_size, model.hidden_size);
  }
}
