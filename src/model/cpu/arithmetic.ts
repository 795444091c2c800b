import type { BlockFormat } from '../../formats/blocks/blockFormat.ts';
import type { ModelConfig } from '../architecture.ts';
import type { attend, attendBackward } from './attention.ts';
import type { addInto, rmsNormBackward, swiglu, swigluBackward } from './layers.ts';
import type { exponentials } from './nextToken.ts';
import type { Precision, Real } from './real.ts';
import type { attendSlots, storeSlots } from './slotAttention.ts';
import type { Team } from './team/team.ts';

/** A matrix product with result y (n,o) and inner size k. */
type Product = (y: Real, x: Real, w: Real, n: number, o: number, k: number) => void;

/** `portable`: to the same bits on every processor. `fused`: as fast as this processor can; bits may differ. */
export type Rounding = 'portable' | 'fused';

/**
 * The heavy loops of one model, and the memory they work on. Every array passed to these functions must come from
 * `reals` or `integers` of the same object, or be a subarray of such an array. The results of a row have the same bits,
 * whichever rows are computed together with it.
 */
export interface Arithmetic {
  readonly model: ModelConfig;
  readonly precision: Precision;
  readonly name: string; // shown to the user
  readonly reals: (size: number) => Real; // zeros
  readonly integers: (size: number) => Int32Array; // zeros
  readonly matmulNT: Product; // the three products are described in matmul.ts
  readonly matmulNN: Product;
  readonly matmulTN: Product;
  readonly attend: WithoutLast<typeof attend>; // attention.ts, with the model's shape
  readonly attendBackward: WithoutLast<typeof attendBackward>;
  /** Kernels for keys and values in slots, as float16 if `isFloat16` and if there are kernels for it, else unrounded. */
  readonly slotKernels: (isFloat16: boolean) => SlotKernels;
  readonly exponentials: typeof exponentials; // nextToken.ts
  readonly rmsNorm: (y: Real, scales: Real, x: Real, weight: Real, n: number) => void; // layers.ts, for this model
  readonly rmsNormBackward: WithoutLast<typeof rmsNormBackward>;
  readonly normHeads: (qkv: Real, qWeight: Real, kWeight: Real, n: number) => void; // layers.ts, for this model
  /** Rotates q and k in the rows of qkv; see layers.ts. */
  readonly rotate: (x: Real, positions: Int32Array, table: Real, n: number, direction: 1 | -1) => void;
  readonly swiglu: typeof swiglu;
  readonly swigluBackward: typeof swigluBackward;
  readonly addInto: typeof addInto;
  readonly unmaskedRows?: UnmaskedRows; // absent: logSoftmaxRow of head.ts is used for all rows
  readonly team?: Team; // threads that share the calls; absent if a single thread computes
  readonly packedKernels?: PackedKernels; // absent: packed weights are converted to numbers before they are used
}

/** Kernels for a row of logits in which every token of the vocabulary is legal. */
export interface UnmaskedRows {
  /** Replaces logits by log-probabilities, log softmax(z/temperature). Returns the entropy, in nats. */
  readonly logSoftmax: (row: Real, temperature: number) => number;
  /** Replaces log-probabilities l by −p·(g + e·(l + entropy)), with p = exp(l). */
  readonly gradients: (row: Real, g: number, e: number, entropy: number) => void;
}

/** Storing and reading of keys and values in slots: the functions of slotAttention.ts, with the model's shape. */
export interface SlotKernels {
  readonly store: WithoutLast<typeof storeSlots>;
  readonly attend: WithoutLast<typeof attendSlots>;
}

/** The weight formats of files that can be used without unpacking. */
export interface PackedFormats {
  /** Whether a matrix in this format, with this number of columns, can stay packed. */
  readonly canStayPacked: (format: BlockFormat, columns: number) => boolean;
  /** Whether the format stores integers with a scale. If so, `quantize` rounds activations to 16-bit integers. */
  readonly hasIntegers: (format: BlockFormat) => boolean;
  /**
   * Size of the array for activations (n,k) that `quantize` writes, in numbers of `reals`: scratch memory for the
   * weights that `product` widens, then 16-bit numbers, and a scale and a sum for each block of 32.
   */
  readonly quantizedSize: (n: number, k: number) => number;
}

export interface PackedKernels extends PackedFormats {
  /** Rounds x (n,k) to 16-bit integers with a scale for each block of 32. */
  readonly quantize: (into: Real, x: Real, n: number, k: number) => void;
  /** Writes x (n,k) · wᵀ to o columns of y from `column` on; rows of y have `stride` numbers. For integer formats, x is quantized. */
  readonly product: (format: BlockFormat, y: Real, column: number, stride: number, x: Real, w: Real, n: number, o: number, k: number) => void; // prettier-ignore
}

/** The function type F without its last parameter. */
type WithoutLast<F> = F extends (...args: [...infer Rest, infer _]) => void ? (...args: Rest) => void : never;
