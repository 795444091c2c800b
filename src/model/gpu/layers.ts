import type { Gpu } from '../../gpu/device.ts';
import * as kernels from '../../gpu/kernels/index.ts';
import type { Plan } from '../../gpu/plan.ts';
import type { Tensor } from '../../gpu/tensor.ts';

/**
 * Which variant of the hot kernels a plan records. Barriers are cheap on GPUs and very dear on software adapters, where loads
 * are dear too: the broadcast kernels share them within subgroups of at least that many lanes.
 */
export type Variant = 'workgroup' | 'barrier-free' | 'broadcast-4' | 'broadcast-8';

/** Every variant that runs on an adapter. */
export function variantsFor({ lanes }: Gpu): readonly Variant[] {
  const broadcast = (['broadcast-4', 'broadcast-8'] as const).filter((_, i) => lanes >= 4 * (i + 1));
  return ['barrier-free', 'workgroup', ...broadcast];
}

/** The variant for an adapter on which nothing has been measured. */
export function defaultVariant({ software, lanes }: Gpu): Variant {
  if (!software) return 'workgroup';
  return lanes >= 8 ? 'broadcast-8' : 'barrier-free'; // with four lanes compiling costs more than a short run wins
}

/** Whether kernels broadcast, and WIDE, the constant that says among how many. */
export function broadcasts(variant: Variant): { readonly WIDE: number } | null {
  if (variant === 'broadcast-8') return { WIDE: 1 };
  return variant === 'broadcast-4' ? { WIDE: 0 } : null;
}

/** Sizes and strides of c[z,i,j] (+)= sum_k a[z,i,k]·b[z,k,j]; see matmul_tiles.wgsl. */
type Product = Readonly<Record<'I' | 'J' | 'K' | 'ai' | 'ak' | 'az' | 'bk' | 'bj' | 'bz' | 'ci' | 'cz' | 'Z', number>>;

/** Rows a thread of the broadcast products owns. */
export const BLOCK = 16;

/** Records a product with the variant's kernel; where every size and stride divides by four, loads take four scalars. */
function matmul(plan: Plan, variant: Variant, a: Tensor, b: Tensor, c: Tensor, dims: Product, add: boolean): void {
  const ACCUMULATE = add ? 1 : 0;
  const { I, J, K, ai, ak, az, bk, bj, bz, ci, cz } = dims;
  const byFour = [I, J, K, az, bz, ci, cz, Math.max(ai, ak), Math.max(bk, bj)].every((n) => n % 4 === 0);
  if (variant === 'workgroup') plan.dispatch(kernels.matmulTiles, { a, b, c }, dims, { ACCUMULATE });
  else if (!byFour) plan.dispatch(kernels.matmulBlocks, { a, b, c }, dims, { ACCUMULATE });
  else {
    const along = { A_ALONG_K: ak === 1 ? 1 : 0, B_ALONG_K: bk === 1 ? 1 : 0 };
    const wide = broadcasts(variant);
    if (wide) {
      const shape = { ...dims, add: ACCUMULATE, block: BLOCK };
      plan.dispatch(kernels.matmulBroadcast, { a, b, gate_up: a, c }, shape, { ...wide, ...along });
    } else plan.dispatch(kernels.matmulBlocks4, { a, b, c }, dims, { ACCUMULATE, ...along });
  }
}

/** y (N,M) = x (N,K)·weightᵀ, weight (M,K) as Hugging Face stores it; `add` adds to y instead. */
export function linear(
  plan: Plan,
  variant: Variant,
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
    add,
  );
}

/** dgateUp (N, 2·K) from dact (N,K) = dy (N,M)·weight, without storing dact; broadcast variants only. */
export function linearBackwardSwiglu(
  plan: Plan,
  wide: { readonly WIDE: number },
  tensors: { readonly dy: Tensor; readonly weight: Tensor; readonly gateUp: Tensor; readonly dgateUp: Tensor },
  { N, K, M }: { readonly N: number; readonly K: number; readonly M: number },
): void {
  const { dy: a, weight: b, gateUp: gate_up, dgateUp: c } = tensors;
  plan.dispatch(
    kernels.matmulBroadcast,
    { a, b, gate_up, c },
    { I: N, J: K, K: M, ai: M, ak: 1, az: 0, bk: K, bj: 1, bz: 0, ci: 2 * K, cz: 0, add: 0, block: BLOCK, Z: 1 },
    { ...wide, A_ALONG_K: 1, B_ALONG_K: 0, SWIGLU: 1 },
  );
}

/** dx (N,K) = dy (N,M)·weight. */
export function linearBackwardInput(
  plan: Plan,
  variant: Variant,
  dy: Tensor,
  weight: Tensor,
  dx: Tensor,
  { N, K, M }: { readonly N: number; readonly K: number; readonly M: number },
): void {
  matmul(
    plan,
    variant,
    dy,
    weight,
    dx,
    { I: N, J: K, K: M, ai: M, ak: 1, az: 0, bk: K, bj: 1, bz: 0, ci: K, cz: 0, Z: 1 },
    false,
  );
}

/** Scalars from one layer's operand to the next; all zero for a single matrix. */
export interface LayerStrides {
  readonly layers: number;
  readonly dy: number;
  readonly x: number;
  readonly dweight: number;
}

/** dweight (M,K) += dyᵀ·x, for all layers at once when strides are given. */
export function linearBackwardWeight(
  plan: Plan,
  variant: Variant,
  dy: Tensor,
  x: Tensor,
  dweight: Tensor,
  { N, K, M }: { readonly N: number; readonly K: number; readonly M: number },
  strides: LayerStrides = { layers: 1, dy: 0, x: 0, dweight: 0 },
): void {
  matmul(
    plan,
    variant,
    dy,
    x,
    dweight,
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
    true,
  );
}

/** y = RMSNorm(x)·weight; keeps xhat and inv for the backward pass. */
export function rmsnorm(
  plan: Plan,
  variant: Variant,
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
  const kernel = variant === 'workgroup' ? kernels.rmsnormForward : kernels.rmsnormForwardRowwise;
  plan.dispatch(kernel, tensors, { N, C }, { EPS: eps });
}

/**
 * dx (+)= the gradient through RMSNorm; `add` where dx is a residual stream that already holds something, `output` where
 * the forward pass applied the norm on load and y is still to be made.
 */
export function rmsnormBackward(
  plan: Plan,
  variant: Variant,
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
  const kernel = variant === 'workgroup' ? kernels.rmsnormBackward : kernels.rmsnormBackwardRowwise;
  plan.dispatch(kernel, tensors, { N, C }, { ACCUMULATE: add ? 1 : 0, OUTPUT: output ? 1 : 0 });
}
