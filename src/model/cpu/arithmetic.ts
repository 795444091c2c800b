import type { BlockFormat } from '../../formats/blocks/blockFormat.ts';
import type { ModelConfig } from '../architecture.ts';
import type { attend, attendBackward } from './attention.ts';
import type { addInto, rmsNormBackward, swiglu, swigluBackward } from './layers.ts';
import type { exponentials } from './nextToken.ts';
import type { Precision, Real } from './real.ts';
import type { attendSlots, fileSlots } from './slotAttention.ts';
import type { Team } from './team/team.ts';

/** A product of matrices with the sizes n, o, k. */
type Product = (y: Real, x: Real, w: Real, n: number, o: number, k: number) => void;

/** How products are rounded: to the same bits on every processor, or as fast as this one can, in bits of its own. */
export type Rounding = 'portable' | 'fused';

/**
 * The heavy loops of one model and the memory they work on: every array given to one of the functions comes from `reals` or
 * `integers` of the same object, or is a part of one. A row's results have the same bits whatever rows are computed with it.
 */
export interface Arithmetic {
  readonly model: ModelConfig;
  readonly precision: Precision;
  readonly name: string; // as a person would name it
  readonly reals: (size: number) => Real; // zeros
  readonly integers: (size: number) => Int32Array; // zeros
  readonly matmulNT: Product; // matmul.ts says what each is
  readonly matmulNN: Product;
  readonly matmulTN: Product;
  readonly attend: WithoutLast<typeof attend>; // attention.ts, with the model's shape
  readonly attendBackward: WithoutLast<typeof attendBackward>;
  readonly slots: (halves: boolean) => SlotKernels; // keys and values as halves where there are kernels for that
  readonly exponentials: typeof exponentials; // nextToken.ts
  readonly rmsNorm: (y: Real, scales: Real, x: Real, weight: Real, n: number) => void; // layers.ts, with the model's d and eps
  readonly rmsNormBackward: WithoutLast<typeof rmsNormBackward>;
  readonly normHeads: (qkv: Real, qWeight: Real, kWeight: Real, n: number) => void; // layers.ts, with the model's shape and eps
  readonly rotate: (x: Real, positions: Int32Array, table: Real, n: number, direction: 1 | -1) => void; // q and k of qkv rows
  readonly swiglu: typeof swiglu;
  readonly swigluBackward: typeof swigluBackward;
  readonly addInto: typeof addInto;
  readonly wideRows?: WideRows; // absent where a vocabulary goes word by word
  readonly team?: Team; // whose threads share the calls; absent where one thread computes
  readonly packed?: PackedKernels; // absent where packed weights are widened before they are used
}

/** A row of logits over a vocabulary of which every token is legal. */
export interface WideRows {
  /** Logits become log-probabilities, log softmax(z/temperature); returns their entropy, in nats. */
  readonly logSoftmax: (row: Real, temperature: number) => number;
  /** Log-probabilities l of that entropy become −p·(g + e·(l + entropy)). */
  readonly gradients: (row: Real, g: number, e: number, entropy: number) => void;
}

/** Keys and values in slots: slotAttention.ts, with the model's shape. */
export interface SlotKernels {
  readonly file: WithoutLast<typeof fileSlots>;
  readonly attend: WithoutLast<typeof attendSlots>;
}

/** Which weights can be used as files pack them. */
export interface PackedFormats {
  /** Whether weights of this format can stay as they are in a matrix of so many columns. */
  readonly takes: (format: BlockFormat, columns: number) => boolean;
  /** Whether its weights are whole numbers with a scale; then activations are taken in 16 bits. */
  readonly integers: (format: BlockFormat) => boolean;
  /** Numbers of `reals` that activations (n,k) take in 16 bits, with a scale and a sum for each 32. */
  readonly roomFor: (n: number, k: number) => number;
}

/** Products with weights as files pack them. */
export interface PackedKernels extends PackedFormats {
  /** Writes x (n,k) in 16 bits. */
  readonly quantize: (into: Real, x: Real, n: number, k: number) => void;
  /** y (n rows of `stride` numbers, from `column` on, o of them) = x (n,k) · wᵀ; x as `quantize` wrote it where the format is of whole numbers. */
  readonly product: (format: BlockFormat, y: Real, column: number, stride: number, x: Real, w: Real, n: number, o: number, k: number) => void; // prettier-ignore
}

/** What is left to give when a function's last argument is known. */
type WithoutLast<F> = F extends (...args: [...infer Rest, infer _]) => void ? (...args: Rest) => void : never;
