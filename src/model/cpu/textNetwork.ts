import type { ModelConfig } from '../architecture.ts';
import { createForwardBuffers, type ForwardBuffers } from './activations.ts';
import type { Arithmetic, SlotKernels } from './arithmetic.ts';
import { fillRotary, gatherRows } from './layers.ts';
import type { ForwardTensors } from './network.ts';
import type { Real } from '../learning/real.ts';
import { createSlotCache, type SlotCache } from './slotCache.ts';
import { keyCacheSize, scoreBufferSize, type TextModelSizes } from './textMemory.ts';
import { type NextToken, nextToken } from './nextToken.ts';
import { forward, type Attend, type WeightOperations } from './transformer.ts';

/** New tokens of a row, from position `start` on. Their slots are already taken. */
export interface NewTokens {
  readonly row: number;
  readonly start: number;
  readonly ids: readonly number[];
}

interface TokenPosition {
  readonly row: number;
  readonly position: number;
}

interface PositionedToken extends TokenPosition {
  readonly id: number;
}

/** Called with tokens that were run and their final hidden states (n, d). */
type OnChunk = (tokens: readonly TokenPosition[], hidden: Real) => void;

export class TextNetwork<M> {
  readonly model: ModelConfig;
  readonly cache: SlotCache;
  readonly #arithmetic: Arithmetic;
  readonly #tensors: ForwardTensors<M>;
  readonly #products: WeightOperations<M>;
  readonly #buffers: ForwardBuffers;
  readonly #slots: SlotKernels;
  readonly #keys: readonly Real[]; // by layer
  readonly #values: readonly Real[];
  readonly #rotary: Real;
  readonly #hidden: Real; // (maxLogitRows, d)
  readonly #logits: Real; // (maxLogitRows, V)
  readonly #exponentials: Real; // (V)
  readonly #sizes: TextModelSizes;

  constructor(
    arithmetic: Arithmetic,
    tensors: ForwardTensors<M>,
    products: WeightOperations<M>,
    sizes: TextModelSizes,
  ) {
    const { model, reals } = arithmetic;
    const { rows, length, tokens, slots, maxLogitRows } = sizes;
    const perLayer = () => tensors.layers.map(() => reals(keyCacheSize(model, sizes)));
    this.model = model;
    this.#slots = arithmetic.slotKernels(sizes.float16Cache);
    this.#arithmetic = arithmetic;
    this.#tensors = tensors;
    this.#sizes = sizes;
    this.#products = products;
    this.#buffers = createForwardBuffers(arithmetic, tokens, scoreBufferSize(model, length));
    this.cache = createSlotCache(arithmetic, rows, length, slots);
    this.#keys = perLayer();
    this.#values = perLayer();
    this.#rotary = reals(length * model.head_dim);
    fillRotary(this.#rotary, model);
    this.#hidden = reals(maxLogitRows * model.hidden_size);
    this.#logits = reals(maxLogitRows * model.vocab_size);
    this.#exponentials = reals(model.vocab_size);
  }

  /** Calls `onChunk` for each chunk; the next overwrites the hidden states. A row that fills shared slots precedes those that use them. */
  run(newTokens: readonly NewTokens[], onChunk: OnChunk): void {
    for (const chunk of this.#chunks(newTokens)) onChunk(chunk, this.#runChunk(chunk));
  }

  /** Does what `run` does, and waits for `yieldToEvents` between two chunks. */
  async runWithBreaks(
    newTokens: readonly NewTokens[],
    onChunk: OnChunk,
    yieldToEvents: () => Promise<void>,
  ): Promise<void> {
    let first = true;
    for (const chunk of this.#chunks(newTokens)) {
      if (!first) await yieldToEvents();
      first = false;
      onChunk(chunk, this.#runChunk(chunk));
    }
  }

  *#chunks(newTokens: readonly NewTokens[]): Generator<readonly PositionedToken[]> {
    const allTokens = newTokens.flatMap(({ row, ids, start }) =>
      ids.map((id, i) => ({ row, id, position: start + i })),
    );
    for (let chunkStart = 0; chunkStart < allTokens.length; chunkStart += this.#sizes.tokens)
      yield allTokens.slice(chunkStart, chunkStart + this.#sizes.tokens);
  }

  /** Runs one chunk of tokens. Returns their final hidden states (n, d). */
  #runChunk(chunk: readonly PositionedToken[]): Real {
    const { tables, length } = this.cache;
    const { visibleKeys } = this.#buffers;
    for (const [i, { row, position }] of chunk.entries()) {
      visibleKeys.first[i] = row * length;
      visibleKeys.counts[i] = position + 1;
    }
    const n = chunk.length;
    const packed = {
      count: n,
      tokens: Int32Array.from(chunk, ({ id }) => id),
      positions: Int32Array.from(chunk, ({ position }) => position),
    };
    const attend: Attend = (layer, { qkv, attended }) => {
      const [keys, values] = [this.#keys[layer]!, this.#values[layer]!];
      this.#slots.store(keys, values, qkv, tables, visibleKeys, n);
      this.#slots.attend(attended, qkv, keys, values, tables, visibleKeys, this.#buffers.scores, n);
    };
    forward(this.#products, this.#buffers, this.#tensors, packed, this.#rotary, attend);
    return this.#buffers.hidden;
  }

  /** Calls `onPrediction` in order, with the index in `rows` and the prediction, which the next call overwrites. */
  head(
    hidden: Real,
    rows: Int32Array,
    temperature: number,
    onPrediction: (index: number, next: NextToken) => void,
  ): void {
    const { hidden_size: d, vocab_size: v } = this.model;
    for (let chunkStart = 0; chunkStart < rows.length; chunkStart += this.#sizes.maxLogitRows) {
      const n = Math.min(this.#sizes.maxLogitRows, rows.length - chunkStart);
      gatherRows(this.#hidden, hidden, rows.subarray(chunkStart), n, d);
      this.#products.product(this.#logits, this.#hidden, this.#tensors.head, n, v, d);
      for (let i = 0; i < n; i++) {
        const logits = this.#logits.subarray(i * v, (i + 1) * v);
        onPrediction(chunkStart + i, nextToken(this.#arithmetic, logits, this.#exponentials, temperature));
      }
    }
  }
}
