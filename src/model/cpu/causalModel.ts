import type { ModelConfig } from '../architecture.ts';
import { BackendError } from '../policy.ts';
import type { WeightSource } from '../weightSource.ts';
import { createForwardRoom, forwardRoomSize, type ForwardRoom } from './activations.ts';
import type { Arithmetic } from './arithmetic.ts';
import { type Cache, cachedAttention, cacheSize, createCache } from './cache.ts';
import { fillRotary } from './layers.ts';
import type { Trunk } from './network.ts';
import { loadTrunk, type Matrix, packedProducts, productRoom, weightsSize } from './packedWeights.ts';
import { bytesPer, type Precision, type Real } from './real.ts';
import { packedFormats, simdArithmetic } from './simd.ts';
import { plainArithmetic } from './plain.ts';
import { forwardBy, type Products } from './transformer.ts';

/** Tokens that run through the network together; more of them share what is read of the weights. */
const CHUNK = 64;
/** Most bytes: what a 32-bit address reaches. */
const MOST_BYTES = 4 * 2 ** 30;

/** How a model is opened to be read. */
export interface CausalModelOptions {
  readonly precision: Precision; // f64 to test against
  readonly length: number; // most tokens of a text
  readonly simd?: boolean; // false keeps f32 off WebAssembly SIMD
  readonly packed?: boolean; // false widens every weight to float32 or float64
}

/** Bytes of a model that is read, by purpose; what `openCausalModel` allocates. */
function causalModelBytes(model: ModelConfig, source: WeightSource, options: CausalModelOptions) {
  const packed = usesSimd(options) && options.packed !== false ? packedFormats : undefined;
  const each = bytesPer(options.precision);
  const tokens = Math.min(CHUNK, options.length);
  const room = forwardRoomSize(model, tokens, options.length) + productRoom(model, packed, tokens);
  return [
    { purpose: 'weights', bytes: each * weightsSize(model, source, packed) },
    { purpose: 'key-value cache', bytes: each * cacheSize({ model }, 1, options.length) },
    { purpose: 'activations', bytes: each * (room + model.vocab_size + options.length * model.head_dim) },
  ];
}

const usesSimd = ({ precision, simd }: CausalModelOptions) => precision === 'f32' && simd !== false;

/**
 * Opens a language model to be read on one core, its weights packed as they came where there are products for that. Throws BackendError, before anything is
 * allocated, where it needs more memory than there can be; FormatError, by file and tensor, where its weights cannot be read.
 */
export async function openCausalModel(
  model: ModelConfig,
  source: WeightSource,
  options: CausalModelOptions,
): Promise<CausalModel> {
  const bytes = causalModelBytes(model, source, options).reduce((sum, part) => sum + part.bytes, 0);
  if (bytes > MOST_BYTES) {
    const gib = (n: number) => (n / 2 ** 30).toFixed(1);
    throw new BackendError(
      `The model needs ${gib(bytes)} GiB for texts of ${options.length} tokens; want at most ${gib(MOST_BYTES)} GiB on the CPU.`,
      'Use a smaller model, one in fewer bits, or shorter texts.',
    );
  }
  const simd = usesSimd(options) ? simdArithmetic(model, bytes) : null;
  const { packed, ...unpacked } = simd ?? plainArithmetic(model, options.precision);
  const arithmetic = packed && options.packed !== false ? { ...unpacked, packed } : unpacked;
  return new CausalModel(arithmetic, await loadTrunk(arithmetic, source), options.length, bytes);
}

/** A language model that is read: one text, its keys and values cached. */
class CausalModel {
  readonly model: ModelConfig;
  readonly length: number; // most tokens
  readonly backend: string; // as a person would name it
  readonly memoryBytes: number;
  readonly #trunk: Trunk<Matrix>;
  readonly #products: Products<Matrix>;
  readonly #room: ForwardRoom;
  readonly #cache: Cache;
  readonly #rotary: Real;
  readonly #logits: Real; // (V)
  readonly #chunk: number;

  constructor(arithmetic: Arithmetic, trunk: Trunk<Matrix>, length: number, memoryBytes: number) {
    const { model, reals } = arithmetic;
    this.model = model;
    this.length = length;
    this.backend = arithmetic.name;
    this.memoryBytes = memoryBytes;
    this.#trunk = trunk;
    this.#chunk = Math.min(CHUNK, length);
    this.#products = packedProducts(arithmetic, this.#chunk);
    this.#room = createForwardRoom(arithmetic, this.#chunk, length);
    this.#cache = createCache(arithmetic, 1, length);
    this.#rotary = reals(length * model.head_dim);
    fillRotary(this.#rotary, model);
    this.#logits = reals(model.vocab_size);
  }

  /** Tokens of the text so far. */
  get filled(): number {
    return this.#cache.filled[0]!;
  }

  /** Forgets the text from token `count` on. */
  keep(count: number): void {
    if (!Number.isInteger(count) || count < 0 || count > this.filled) {
      throw new RangeError(`keep: got ${count}; want a number of the text's ${this.filled} tokens.`);
    }
    this.#cache.filled[0] = count;
  }

  /**
   * Appends tokens to the text and gives the logits (V) of the token after them, overwritten by the next call. Throws RangeError on none, on ids outside the
   * vocabulary and on more than fit.
   */
  append(tokens: ArrayLike<number>): Real {
    this.#run(tokens, null);
    return this.#logits;
  }

  /** As `append`, with the logits after each of the tokens, (n, V) in order; for analysis and tests. */
  appendAll(tokens: ArrayLike<number>): Float64Array {
    const v = this.model.vocab_size;
    const all = new Float64Array(tokens.length * v);
    this.#run(tokens, (index) => all.set(this.#logits, index * v));
    return all;
  }

  /** Runs tokens in chunks. `each` is called with every token's index when its logits are there; without, only those after the last are made. */
  #run(tokens: ArrayLike<number>, each: ((index: number) => void) | null): void {
    const { vocab_size: v, hidden_size: d } = this.model;
    this.#check(tokens);
    for (let from = 0; from < tokens.length; from += this.#chunk) {
      const count = Math.min(this.#chunk, tokens.length - from);
      const begin = this.filled;
      const packed = {
        count,
        tokens: Int32Array.from({ length: count }, (_, i) => tokens[from + i]!),
        positions: Int32Array.from({ length: count }, (_, i) => begin + i),
        rows: new Int32Array(count),
      };
      const attend = cachedAttention(this.#room, this.#cache, packed);
      forwardBy(this.#products, this.#room, this.#trunk, packed, this.#rotary, attend, false);
      this.#cache.filled[0] = begin + count;
      for (let i = 0; i < count; i++) {
        if (!each && from + i < tokens.length - 1) continue;
        const hidden = this.#room.hidden.subarray(i * d, (i + 1) * d);
        this.#products.product(this.#logits, hidden, this.#trunk.head, 1, v, d);
        each?.(from + i);
      }
    }
  }

  #check(tokens: ArrayLike<number>): void {
    const free = this.length - this.filled;
    if (tokens.length === 0 || tokens.length > free) {
      throw new RangeError(
        `append: got ${tokens.length} tokens; want 1 to ${free}, for a text has at most ${this.length}.`,
      );
    }
    for (const token of Array.from(tokens)) {
      if (!Number.isInteger(token) || token < 0 || token >= this.model.vocab_size) {
        throw new RangeError(`append: got token ${token}; want an id from 0 to ${this.model.vocab_size - 1}.`);
      }
    }
  }
}
