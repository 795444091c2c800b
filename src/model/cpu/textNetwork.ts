import type { ModelConfig } from '../architecture.ts';
import { createForwardRoom, type ForwardRoom } from './activations.ts';
import type { Arithmetic, SlotKernels } from './arithmetic.ts';
import { fillRotary, gatherRows } from './layers.ts';
import type { Trunk } from './network.ts';
import type { Real } from './real.ts';
import { createSlotCache, type SlotCache } from './slotCache.ts';
import { keysOf, scoresOf, type TextModelSizes } from './textMemory.ts';
import { type NextToken, nextToken } from './nextToken.ts';
import { forwardBy, type Attend, type Products } from './transformer.ts';

/** Tokens of a row from position `from` on, which have their slots. */
export interface Following {
  readonly row: number;
  readonly from: number;
  readonly ids: readonly number[];
}

/** Where a token is. */
interface Placed {
  readonly row: number;
  readonly position: number;
}

/** A token that is run, and where it is. */
interface Fed extends Placed {
  readonly id: number;
}

/** Hears of tokens that were run, with their final hidden states. */
type Each = (tokens: readonly Placed[], hidden: Real) => void;

/** A network that reads rows of text: weights, keys and values of the tokens so far, and room to work in. */
export class TextNetwork<M> {
  readonly model: ModelConfig;
  readonly cache: SlotCache;
  readonly #arithmetic: Arithmetic;
  readonly #trunk: Trunk<M>;
  readonly #products: Products<M>;
  readonly #room: ForwardRoom;
  readonly #slots: SlotKernels;
  readonly #keys: readonly Real[]; // by layer
  readonly #values: readonly Real[];
  readonly #rotary: Real;
  readonly #hidden: Real; // (heldLogits, d)
  readonly #logits: Real; // (heldLogits, V)
  readonly #exponentials: Real; // (V)
  readonly #sizes: TextModelSizes;

  constructor(arithmetic: Arithmetic, trunk: Trunk<M>, products: Products<M>, sizes: TextModelSizes) {
    const { model, reals } = arithmetic;
    const { rows, length, tokens, slots, heldLogits } = sizes;
    const perLayer = () => trunk.layers.map(() => reals(keysOf(model, sizes)));
    this.model = model;
    this.#slots = arithmetic.slots(sizes.halfCache);
    this.#arithmetic = arithmetic;
    this.#trunk = trunk;
    this.#sizes = sizes;
    this.#products = products;
    this.#room = createForwardRoom(arithmetic, tokens, scoresOf(model, length));
    this.cache = createSlotCache(arithmetic, rows, length, slots);
    this.#keys = perLayer();
    this.#values = perLayer();
    this.#rotary = reals(length * model.head_dim);
    fillRotary(this.#rotary, model);
    this.#hidden = reals(heldLogits * model.hidden_size);
    this.#logits = reals(heldLogits * model.vocab_size);
    this.#exponentials = reals(model.vocab_size);
  }

  /**
   * Runs tokens through the network, filing their keys and values in their slots. `each` gets them some at a time, with their final hidden states
   * (n, d), overwritten later. Rows that share slots come after the row that fills them.
   */
  run(following: readonly Following[], each: Each): void {
    for (const chunk of this.#chunks(following)) each(chunk, this.#through(chunk));
  }

  /** The same, with a break between two pieces in which something else may be done. */
  async runWithBreaks(following: readonly Following[], each: Each, yieldToEvents: () => Promise<void>): Promise<void> {
    let first = true;
    for (const chunk of this.#chunks(following)) {
      if (!first) await yieldToEvents();
      first = false;
      each(chunk, this.#through(chunk));
    }
  }

  /** Tokens in pieces of as many as run at once. */
  *#chunks(following: readonly Following[]): Generator<readonly Fed[]> {
    const all = following.flatMap(({ row, ids, from }) => ids.map((id, i) => ({ row, id, position: from + i })));
    for (let from = 0; from < all.length; from += this.#sizes.tokens) yield all.slice(from, from + this.#sizes.tokens);
  }

  /** Runs some tokens; their final hidden states (n, d). */
  #through(chunk: readonly Fed[]): Real {
    const { tables, length } = this.cache;
    const { reach } = this.#room;
    for (const [i, { row, position }] of chunk.entries()) {
      reach.first[i] = row * length;
      reach.counts[i] = position + 1;
    }
    const n = chunk.length;
    const packed = {
      count: n,
      tokens: Int32Array.from(chunk, ({ id }) => id),
      positions: Int32Array.from(chunk, ({ position }) => position),
    };
    const attend: Attend = (layer, { qkv, attended }) => {
      const [keys, values] = [this.#keys[layer]!, this.#values[layer]!];
      this.#slots.file(keys, values, qkv, tables, reach, n);
      this.#slots.attend(attended, qkv, keys, values, tables, reach, this.#room.scores, n);
    };
    forwardBy(this.#products, this.#room, this.#trunk, packed, this.#rotary, attend, false);
    return this.#room.hidden;
  }

  /** What the model says after each of `hidden` (n, d), so many at a time that their logits fit; `each` gets it in order, overwritten later. */
  head(hidden: Real, rows: Int32Array, temperature: number, each: (index: number, next: NextToken) => void): void {
    const { hidden_size: d, vocab_size: v } = this.model;
    for (let from = 0; from < rows.length; from += this.#sizes.heldLogits) {
      const n = Math.min(this.#sizes.heldLogits, rows.length - from);
      gatherRows(this.#hidden, hidden, rows.subarray(from), n, d);
      this.#products.product(this.#logits, this.#hidden, this.#trunk.head, n, v, d);
      for (let i = 0; i < n; i++) {
        const logits = this.#logits.subarray(i * v, (i + 1) * v);
        each(from + i, nextToken(this.#arithmetic, logits, this.#exponentials, temperature));
      }
    }
  }
}
