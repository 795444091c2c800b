import { workgroups, type Constants, type Dims, type Kernel } from '../../gpu/kernel.ts';
import * as kernels from '../../gpu/kernels/index.ts';
import type { Plan } from '../../gpu/plan.ts';
import type { Tensor } from '../../gpu/tensor.ts';
import type { SetParts } from './kernelSets.ts';
import { splitOf, whole, type Slabs, type SlabTensor } from './slabs.ts';

/** Sizes and strides of c[z,i,j] (+)= sum_k a[z,i,k]·b[z,k,j], the sum in one piece; see matmul_blocks.wgsl. */
type Product = Readonly<Record<'I' | 'J' | 'K' | 'ai' | 'ak' | 'az' | 'bk' | 'bj' | 'bz' | 'ci' | 'cz' | 'Z', number>>;

/** Rows a thread of the broadcast products owns. */
export const BLOCK = 16;

/** What becomes of a product besides being stored. */
interface Ending {
  readonly add?: boolean; // to what c holds
  readonly slabs?: Slabs; // c is in the gradient pool, and the sum is cut where a GPU gains by it
  readonly gateUp?: Tensor; // the product is the gradient of SwiGLU, c that of these gates and ups
}

/** Records a product with the variant's kernel. */
function matmul(
  plan: Plan,
  variant: SetParts['products'],
  a: Tensor,
  b: Tensor,
  c: Tensor,
  product: Product,
  { add = false, slabs, gateUp }: Ending = {},
): void {
  const { kernel, dims: own } = productKernel(variant, product);
  const split = slabs ? splitOf(slabs, product.K, workgroups(kernel, { ...product, ...own })) : whole(product.K);
  const ending = { add: add ? 1 : 0, swiglu: gateUp ? 1 : 0, cp: slabs?.size ?? 0 };
  const dims = { ...product, ...own, ...split, ...ending, Z: product.Z * split.parts };
  plan.dispatch(kernel, { a, b, gate_up: gateUp ?? a, c }, dims);
}

/** A variant's kernel for a product, with the sizes that are its own; sizes that four does not divide take the one for any. */
function productKernel(
  variant: SetParts['products'],
  { I, J, K, ai, ak, az, bk, bj, bz, ci, cz }: Product,
): { readonly kernel: Kernel; readonly dims: Dims } {
  const rows = ak === 1 ? 4 : I; // along k each row is loaded by itself
  const byFour = [rows, J, K, az, bz, ci, cz, Math.max(ai, ak), Math.max(bk, bj)].every((n) => n % 4 === 0);
  if (byFour && variant === 'subgroups') return { kernel: kernels.matmulBroadcast, dims: { block: BLOCK } };
  if (byFour && variant === 'tiles') return { kernel: kernels.matmulTiles, dims: { block: 4 } };
  // as many threads share rows as there are columns for, eight a thread
  const across = Math.min(8, 2 ** Math.ceil(Math.log2(Math.max(J, 8) / 8)));
  return { kernel: kernels.matmulBlocks, dims: { block: 8, across } };
}

/** y (N,M) = x (N,K)·weightᵀ, weight (M,K) as Hugging Face stores it; `add` adds to y instead. */
export function linear(
  plan: Plan,
  variant: SetParts['products'],
  x: Tensor,
  weight: Tensor,
  y: Tensor,
  { N, K, M }: { readonly N: number; readonly K: number; readonly M: number },
  add = false,
): void {
  matmul(
    plan,
    variant,
    x,
    weight,
    y,
    { I: N, J: M, K, ai: K, ak: 1, az: 0, bk: 1, bj: K, bz: 0, ci: M, cz: 0, Z: 1 },
    { add },
  );
}

/** dgateUp (N, 2·K) from dact (N,K) = dy (N,M)·weight, without storing dact; sizes divisible by 4. */
export function linearBackwardSwiglu(
  plan: Plan,
  variant: SetParts['products'],
  tensors: { readonly dy: Tensor; readonly weight: Tensor; readonly gateUp: Tensor; readonly dgateUp: Tensor },
  { N, K, M }: { readonly N: number; readonly K: number; readonly M: number },
): void {
  const { dy, weight, gateUp, dgateUp } = tensors;
  matmul(
    plan,
    variant,
    dy,
    weight,
    dgateUp,
    { I: N, J: K, K: M, ai: M, ak: 1, az: 0, bk: K, bj: 1, bz: 0, ci: 2 * K, cz: 0, Z: 1 },
    { gateUp },
  );
}

/** dx (N,K) = dy (N,M)·weight. */
export function linearBackwardInput(
  plan: Plan,
  variant: SetParts['products'],
  dy: Tensor,
  weight: Tensor,
  dx: Tensor,
  { N, K, M }: { readonly N: number; readonly K: number; readonly M: number },
): void {
  matmul(plan, variant, dy, weight, dx, {
    I: N,
    J: K,
    K: M,
    ai: M,
    ak: 1,
    az: 0,
    bk: K,
    bj: 1,
    bz: 0,
    ci: K,
    cz: 0,
    Z: 1,
  });
}

/** Scalars from one layer's operand to the next; all zero for a single matrix. */
export interface LayerStrides {
  readonly layers: number;
  readonly dy: number;
  readonly x: number;
  readonly dweight: number;
}

/** dweight (M,K) += dyᵀ·x, for all layers at once when strides are given; the sum over N may be cut. */
export function linearBackwardWeight(
  plan: Plan,
  variant: SetParts['products'],
  dy: Tensor,
  x: Tensor,
  dweight: SlabTensor,
  { N, K, M }: { readonly N: number; readonly K: number; readonly M: number },
  strides: LayerStrides = { layers: 1, dy: 0, x: 0, dweight: 0 },
): void {
  matmul(
    plan,
    variant,
    dy,
    x,
    dweight.tensor,
    {
      I: M,
      J: K,
      K: N,
      ai: 1,
      ak: M,
      az: strides.dy,
      bk: K,
      bj: 1,
      bz: strides.x,
      ci: K,
      cz: strides.dweight,
      Z: strides.layers,
    },
    { add: true, slabs: dweight.slabs },
  );
}

/** Records a kernel that sums over all N tokens into the gradient pool, in as many parts as there are slabs and work for. */
export function sumOverTokens(
  plan: Plan,
  kernel: Kernel,
  tensors: Readonly<Record<string, Tensor>>,
  dims: Dims & { readonly N: number },
  slabs: Slabs,
  constants: Constants = {},
): void {
  plan.dispatch(kernel, tensors, { ...dims, ...splitOf(slabs, dims.N, 1), slab: slabs.size }, constants);
}

/** y = RMSNorm(x)·weight; keeps xhat and inv for the backward pass. */
export function rmsnorm(
  plan: Plan,
  variant: SetParts['reductions'],
  tensors: {
    readonly x: Tensor;
    readonly weight: Tensor;
    readonly xhat: Tensor;
    readonly y: Tensor;
    readonly inv: Tensor;
  },
  N: number,
  C: number,
  eps: number,
): void {
  const kernel = variant === 'tiles' ? kernels.rmsnormForward : kernels.rmsnormForwardRowwise;
  plan.dispatch(kernel, tensors, { N, C }, { EPS: eps });
}

/**
 * dx (+)= the gradient through RMSNorm; `add` where dx is a residual stream that already holds something, `output` where
 * the forward pass applied the norm on load and y is still to be made.
 */
export function rmsnormBackward(
  plan: Plan,
  variant: SetParts['reductions'],
  tensors: {
    readonly dy: Tensor;
    readonly xhat: Tensor;
    readonly weight: Tensor;
    readonly inv: Tensor;
    readonly dx: Tensor;
    readonly y: Tensor;
  },
  N: number,
  C: number,
  { add, output }: { readonly add: boolean; readonly output: boolean },
): void {
  const rowwise = variant !== 'tiles' && C % 4 === 0;
  const kernel = rowwise ? kernels.rmsnormBackwardRowwise : kernels.rmsnormBackward;
  plan.dispatch(kernel, tensors, { N, C, add: add ? 1 : 0, output: output ? 1 : 0 });
}
