import { workgroups, type Constants, type Dims, type Kernel } from '../../gpu/kernel.ts';
import * as kernels from '../../gpu/kernels/index.ts';
import type { Plan } from '../../gpu/plan.ts';
import type { Tensor } from '../../gpu/tensor.ts';
import type { KernelVariants } from './kernelSets.ts';
import { splitOf, unsplit, type PartialGradients, type GradientRange } from './partialGradients.ts';

/** Sizes and strides of c[z,i,j] (+)= sum_k a[z,i,k]·b[z,k,j], before the sum is split into parts; see matmul_blocks.wgsl. */
type Product = Readonly<Record<'I' | 'J' | 'K' | 'ai' | 'ak' | 'az' | 'bk' | 'bj' | 'bz' | 'ci' | 'cz' | 'Z', number>>;

/** Rows that a thread owns in the kernels matmul_broadcast and norm_project_broadcast. */
export const BROADCAST_ROWS = 16;

/** Workgroups that fill a GPU: one for each processor of the largest, two or more for each of a smaller one. */
const FILLING_WORKGROUPS = 128;

/** Rows and columns of a workgroup's tile in matmul_tiles and norm_project_tiles. */
interface Tile {
  readonly dims: { readonly tileRows: number; readonly tileColumns: number }; // for the grid
  readonly constants: { readonly ROWS: number; readonly COLUMNS: number }; // for the kernel
}

function squareTile(quads: number): Tile {
  return { dims: { tileRows: 32 * quads, tileColumns: 32 * quads }, constants: { ROWS: quads, COLUMNS: quads } };
}

/** The tiles of `matrices` products of I rows and J columns: 64×64 if those fill a GPU, otherwise 32×32. */
export function tileFor(I: number, J: number, matrices = 1): Tile {
  return squareTile(matrices * Math.ceil(I / 64) * Math.ceil(J / 64) < FILLING_WORKGROUPS ? 1 : 2);
}

interface ProductStore {
  readonly add?: boolean; // to c, instead of replacing it
  readonly partials?: PartialGradients; // c is a range of these; the sum is split where that fills a GPU better
  readonly gateUp?: Tensor; // the product is the gradient of SwiGLU's output; c gets that of these gates and ups
}

/** The variant for matrices of floats, or the kernel with tiles for matrices in another format. */
export type ProductKernel = KernelVariants['products'] | Kernel;

function matmul(
  plan: Plan,
  variant: ProductKernel,
  a: Tensor,
  b: Tensor,
  c: Tensor,
  product: Product,
  { add = false, partials, gateUp }: ProductStore = {},
): void {
  const { kernel, dims: kernelDims, constants } = productKernel(variant, product, partials?.count);
  const split = partials
    ? splitOf(partials, product.K, workgroups(kernel, { ...product, ...kernelDims }))
    : unsplit(product.K);
  const store = { add: add ? 1 : 0, swiglu: gateUp ? 1 : 0, cp: partials?.size ?? 0 };
  const dims = { ...product, ...kernelDims, ...split, ...store, Z: product.Z * split.parts };
  plan.dispatch(kernel, { a, b, gate_up: gateUp ?? a, c }, dims, constants);
}

/**
 * Also returns the kernel's additional dims and its constants. Sizes that are not multiples of 4 use matmul_blocks. The
 * sum can be split into up to `maxParts` parts.
 */
function productKernel(
  variant: ProductKernel,
  { I, J, K, ai, ak, az, bk, bj, bz, ci, cz, Z }: Product,
  maxParts = 1,
): { readonly kernel: Kernel; readonly dims: Dims; readonly constants?: Constants } {
  const rows = ak === 1 ? 4 : I; // if k is contiguous in a, rows are loaded one by one, so I may be any number
  const multiplesOf4 = [rows, J, K, az, bz, ci, cz, Math.max(ai, ak), Math.max(bk, bj)].every((n) => n % 4 === 0);
  if (multiplesOf4 && variant === 'subgroups')
    return { kernel: kernels.matmulBroadcast, dims: { block: BROADCAST_ROWS } };
  const withTiles = multiplesOf4 && variant === 'tiles' ? kernels.matmulTiles : variant;
  if (typeof withTiles === 'object') {
    const { dims, constants } = tileFor(I, J, Z * maxParts);
    return { kernel: withTiles, dims: { block: 4, ...dims }, constants };
  }
  // threads that share the same rows: one per 8 columns, at most 8
  const columnThreads = Math.min(8, 2 ** Math.ceil(Math.log2(Math.max(J, 8) / 8)));
  return { kernel: kernels.matmulBlocks, dims: { block: 8, across: columnThreads } };
}

/** A product of one matrix. */
const SINGLE = { az: 0, bz: 0, cz: 0, Z: 1 };

/** Sizes of a linear layer with input x (N,K) and output y (N,M). */
interface LinearSizes {
  readonly N: number;
  readonly K: number;
  readonly M: number;
  readonly width?: number; // scalars from one row of y to the next; default: M
}

/** Records y (N,M) = x (N,K)·weightᵀ. weight is (M,K), as Hugging Face stores it. With `add` the product is added to y. */
export function linear(
  plan: Plan,
  variant: ProductKernel,
  x: Tensor,
  weight: Tensor,
  y: Tensor,
  { N, K, M, width = M }: LinearSizes,
  add = false,
): void {
  matmul(plan, variant, x, weight, y, { ...SINGLE, I: N, J: M, K, ai: K, ak: 1, bk: 1, bj: K, ci: width }, { add });
}

/**
 * Records dx (N,K) = dy (N,M)·weight. With `gateUp`, dx (N, 2·K) is the gradient of these gates and ups, and the product,
 * which isn't stored, that of SwiGLU's output; then K and M are multiples of 4.
 */
export function linearBackwardInput(
  plan: Plan,
  variant: ProductKernel,
  dy: Tensor,
  weight: Tensor,
  dx: Tensor,
  { N, K, M, width = M }: LinearSizes,
  store: Pick<ProductStore, 'add' | 'gateUp'> = {},
): void {
  const columns = store.gateUp ? 2 * K : K;
  matmul(plan, variant, dy, weight, dx, { ...SINGLE, I: N, J: K, K: M, ai: width, ak: 1, bk: K, bj: 1, ci: columns }, store); // prettier-ignore
}

/** Number of layers, and the scalars from one layer's operand to the next; 0 for a single matrix. */
export interface LayerStrides {
  readonly layers: number;
  readonly dy: number;
  readonly x: number;
  readonly dweight: number;
}

/** Records dweight (M,K) += dyᵀ·x, with `strides` for all layers at once. The sum over N may be split into parts. */
export function linearBackwardWeight(
  plan: Plan,
  variant: KernelVariants['products'],
  dy: Tensor,
  x: Tensor,
  dweight: GradientRange,
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
    { add: true, partials: dweight.partials },
  );
}

/** Adds sums over all N tokens to the partial gradients. `splitOf` decides into how many parts the sum is split. */
export function sumOverTokens(
  plan: Plan,
  kernel: Kernel,
  tensors: Readonly<Record<string, Tensor>>,
  dims: Dims & { readonly N: number },
  partials: PartialGradients,
  constants: Constants = {},
): void {
  plan.dispatch(kernel, tensors, { ...dims, ...splitOf(partials, dims.N, 1), slab: partials.size }, constants);
}

/** Records y = RMSNorm(x)·weight. Also writes xhat and inv for the backward pass. */
export function rmsnorm(
  plan: Plan,
  variant: KernelVariants['reductions'],
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

/** `add`: dx, a residual stream, already holds a gradient. `output` also computes y, which a norm applied on load did not store. */
export function rmsnormBackward(
  plan: Plan,
  variant: KernelVariants['reductions'],
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
