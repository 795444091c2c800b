import type { BlockFormat } from '../../formats/blocks/blockFormat.ts';
import type { ModelConfig } from '../architecture.ts';
import type { TableOfKeys, VisibleKeys } from '../attentionShape.ts';
import type { exponentials } from './nextToken.ts';
import type { Precision, Real } from '../learning/real.ts';
import type { PassPart, Team } from './team/team.ts';

/** A matrix product with result y (n,o) and inner size k. A row's result doesn't depend on how many rows are computed with it. */
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
  readonly threads?: string; // the part of the name that says how many threads compute
  readonly reals: (size: number) => Real; // zeros
  readonly integers: (size: number) => Int32Array; // zeros
  readonly matmulNT: Product; // y = x (n,k) · wᵀ, w (o,k) as in Hugging Face
  readonly matmulNN: Product; // y = x (n,k) · w (k,o): the gradient of a linear layer's input
  readonly matmulTN: Product; // y += xᵀ · w, x (k,n), w (k,o): adds the gradient of a linear layer's weight
  /**
   * Attention of n queries, softmax(q·k/√D) over the keys that each sees, written to out (n, H·D). Query i is the first H·D numbers of
   * row i of qkv (n, (H+2·kvH)·D), already rotated. Keys and values are rows of a tree's tokens or of a KV cache, `stride` numbers apart.
   * Head h reads kv head ⌊h·kvH/H⌋. If `keptProbabilities` is given, the counts[i] probabilities of each query and head are written
   * there one after the other. `scores` is scratch memory for the largest count plus three.
   */
  readonly attend: (out: Real, keptProbabilities: Real | null, qkv: Real, keys: Real, values: Real, stride: number, visible: TableOfKeys, scores: Real, n: number) => void; // prettier-ignore
  /** Over one qkv: overwrites dqkv (n, (H+2·kvH)·D), from dout (n, H·D). A key that several queries see gets the sum. */
  readonly attendBackward: (dqkv: Real, dout: Real, keptProbabilities: Real, qkv: Real, visible: TableOfKeys, scores: Real, n: number) => void; // prettier-ignore
  /** Kernels for keys and values in slots, as float16 if `isFloat16` and if there are kernels for it, else unrounded. */
  readonly slotKernels: (isFloat16: boolean) => SlotKernels;
  readonly exponentials: typeof exponentials; // nextToken.ts
  /** y (n,d) = x · rsqrt(mean(x²) + eps) · weight (Zhang & Sennrich 2019); rsqrt(…) of each row goes to `scales` (n). */
  readonly rmsNorm: (y: Real, scales: Real, x: Real, weight: Real, n: number) => void;
  /** Adds to dx (n,d) and dweight (d) what follows from dy (n,d); with s the saved scale, dx += s·(w·dy) − x·s³/d·Σ w·dy·x. */
  readonly rmsNormBackward: (dx: Real, dweight: Real, dy: Real, x: Real, scales: Real, weight: Real, n: number) => void;
  /** RMSNorm of each head of q and of k in place, over its D numbers, in the rows of qkv; one weight (D) for q, one for k (Qwen3). */
  readonly normHeads: (qkv: Real, qWeight: Real, kWeight: Real, n: number) => void;
  /**
   * The backward pass of `normHeads`: replaces in dqkv the gradient of the normalized heads by that of the heads before, which `qkv` holds.
   * Adds the gradients of the weights. With s the scale of a head, dx = s·(w·dy) − x·s³/D·Σ w·dy·x.
   */
  readonly normHeadsBackward: (dqkv: Real, dqWeight: Real, dkWeight: Real, qkv: Real, qWeight: Real, kWeight: Real, n: number) => void; // prettier-ignore
  readonly copy: (y: Real, x: Real, size: number) => void;
  /**
   * Rotates q and k in the rows of qkv, in place. Coordinate c pairs with c + D/2 (Llama's rotate-half). −1 rotates back: also the
   * gradient. `table` is that of `fillRotary`.
   */
  readonly rotate: (x: Real, positions: Int32Array, table: Real, n: number, direction: 1 | -1) => void;
  /** out (n,f) = silu(gate) · up (Shazeer 2020). Each row of gateUp (n,2f) holds gate, then up. `sigmoid` (n,f) gets σ(gate). */
  readonly swiglu: (out: Real, sigmoid: Real, gateUp: Real, n: number, f: number) => void;
  readonly swigluBackward: (dgateUp: Real, dout: Real, sigmoid: Real, gateUp: Real, n: number, f: number) => void;
  readonly addInto: (y: Real, a: Real, b: Real, size: number) => void; // y = a + b; y may be a
  readonly addBias: (y: Real, bias: Real, n: number, o: number) => void; // adds bias (o) to each row of y (n,o)
  readonly addColumnSums: (dbias: Real, dy: Real, n: number, o: number) => void; // adds the rows of dy (n,o) to dbias (o)
  readonly gatherRows: (out: Real, table: Real, ids: Int32Array, n: number, width: number) => void; // as in layers.ts
  /** Copies keys and values of n rows of qkv, each to row first[i] + counts[i] − 1, the last place that its query sees. */
  readonly storeKeys: (keys: Real, values: Real, qkv: Real, visible: VisibleKeys, n: number) => void;
  /**
   * Runs the parts of a pass on all threads and returns when they are done. Calls of kernels within a part may run
   * later and on another thread. So a part must not read what they write, nor write what they read.
   */
  readonly runPass: (parts: readonly PassPart[]) => void;
  /**
   * Replaces n rows of logits z (n,v) by z/t − max z/t, with the temperature t at `temperature`. Illegal tokens get
   * ILLEGAL_LOGPROB; null: all are legal. Of the new z, writes S = Σ exp z and T = Σ exp(z)·z to `sums` (n,2).
   */
  readonly softmaxRows: (z: Real, sums: Real, temperature: Real, n: number, v: number, legal: LegalTokens | null) => void; // prettier-ignore
  /**
   * Replaces the rows that `softmaxRows` left by −exp(z)·p·(g + e·(z + c)), 0 for illegal tokens, and adds g at the
   * row's token. `factors` (n,4) is [p, g, e, c]. For a token of −1, g isn't added.
   */
  readonly gradientRows: (z: Real, factors: Real, tokens: Int32Array, n: number, v: number) => void;
  readonly team?: Team; // threads that share the calls; absent if a single thread computes
  readonly packedKernels?: PackedKernels; // absent: packed weights are converted to numbers before they are used
}

/** The legal tokens of n rows: row i has number states[i] of the masks; see `maskBit` in wasm/headKernels.ts. */
export interface LegalTokens {
  readonly masks: Int32Array;
  readonly states: Int32Array; // (n)
}

/** Keys and values in slots. Query i sees the slots tables[first[i]] … tables[first[i] + counts[i] − 1]. */
export interface SlotKernels {
  /** Copies keys and values of n rows of qkv, each to the last slot that its query sees. */
  readonly store: (keys: Real, values: Real, qkv: Real, tables: Int32Array, visible: VisibleKeys, n: number) => void;
  /** As `attend` of Arithmetic, over slots. */
  readonly attend: (out: Real, qkv: Real, keys: Real, values: Real, tables: Int32Array, visible: VisibleKeys, scores: Real, n: number) => void; // prettier-ignore
}

/** Loops in place of WebAssembly's: the reference of tests. */
export interface ReferenceLoops {
  readonly precision: Precision;
  readonly make: (model: ModelConfig) => Arithmetic;
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
