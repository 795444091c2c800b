import * as kernels from '../../gpu/kernels/index.ts';
import type { Plan } from '../../gpu/plan.ts';
import { slice, type Tensor } from '../../gpu/tensor.ts';
import type { KernelVariants } from './kernelSets.ts';
import { linear, linearBackwardInput, tileFor } from './layers.ts';
import type { Matrix } from './matrices.ts';

/** Maximum rows of a product with matmul_rows. Products of more rows use matmul_tiles. */
export const MAX_FEW_ROWS = 64;
/** Maximum rows that a thread of matmul_rows sums. */
const ROWS_PER_THREAD = 4;
const MAX_GROUP_THREADS = 64;
const MAX_WORKGROUP_THREADS = 256;

/** Dims of a product of one matrix whose sum is not split. */
const UNSPLIT = { az: 0, bz: 0, cz: 0, parts: 1, cp: 0, swiglu: 0, block: 4, Z: 1 };

/** What a product of few rows does besides, in the same dispatch. */
interface ProductOptions {
  readonly add?: boolean; // the product is added to c
  readonly norm?: { readonly weight: Tensor; readonly eps: number }; // a is normalised first (RMSNorm)
  readonly gated?: boolean; // c (N, rows/2) = silu(gates)·ups; see `canGate`
}

/** Records c (N, rows) = a (N,K)·matrixᵀ, one dispatch per part. More than MAX_FEW_ROWS rows can't be normalised or gated. */
export function recordProduct(
  plan: Plan,
  a: Tensor,
  matrix: Matrix,
  c: Tensor,
  N: number,
  { add = false, norm, gated = false }: ProductOptions = {},
): void {
  if (N > MAX_FEW_ROWS) {
    recordTiles(plan, a, matrix, c, N, add);
    return;
  }
  const { columnsPerGroup, constants } = fewRowsConstants(N);
  const also = { ...(norm && { NORM: 1, EPS: norm.eps }), ...(gated && { GATED: 1 }) };
  for (const { b, columns, dims } of productParts(matrix, c, N, add)) {
    const ci = gated ? matrix.rows / 2 : dims.ci;
    const operands = { a, b, weight: norm?.weight ?? a, c: columns };
    plan.dispatch(matrix.format.fewRowsKernel, operands, { ...dims, ci, columnsPerGroup }, { ...constants, ...also });
  }
}

/** Whether a product of N rows with these gates and ups can apply their activation: a gate and its up are in the same part. */
export const canGate = ({ parts }: Matrix, N: number) => N <= MAX_FEW_ROWS && parts.length === 1;

/** Tiles allow any number of rows. A float matrix in one part uses the variant's kernel. Sizes except N are multiples of 4. */
export function recordTiledProduct(
  plan: Plan,
  variant: KernelVariants['products'],
  a: Tensor,
  matrix: Matrix,
  c: Tensor,
  N: number,
  add = false,
): void {
  const floats = floatTensor(matrix);
  if (floats) linear(plan, variant, a, floats, c, { N, K: matrix.K, M: matrix.rows }, add);
  else recordTiles(plan, a, matrix, c, N, add);
}

function recordTiles(plan: Plan, a: Tensor, matrix: Matrix, c: Tensor, N: number, add: boolean): void {
  const { K, format } = matrix;
  const strides = { ai: K, ak: 1, bk: 1, bj: K, chunk: 16 * Math.ceil(K / 16) };
  for (const { b, columns, dims } of productParts(matrix, c, N, add)) {
    const tile = tileFor(N, dims.J);
    const tiledDims = { ...dims, ...UNSPLIT, ...strides, ...tile.dims };
    plan.dispatch(format.tilesKernel, { a, b, gate_up: a, c: columns }, tiledDims, tile.constants);
  }
}

/** Operands and dims of a product by part of the matrix. Each part computes some columns of c. */
function productParts({ K, rows: ci, parts }: Matrix, c: Tensor, N: number, add: boolean) {
  return parts.map(({ firstRow: first, rows: J, weights: b }) => {
    const columns = first === 0 ? c : slice(c, `${c.name} from ${first}`, first, [N * ci - first]);
    return { b, columns, dims: { I: N, J, K, ci, add: add ? 1 : 0 } };
  });
}

/** Records dx (N,K) = dy (N, rows)·matrix, one dispatch per part. `rows` must be a multiple of 4. */
export function recordProductBackward(
  plan: Plan,
  variant: KernelVariants['products'],
  dy: Tensor,
  matrix: Matrix,
  dx: Tensor,
  N: number,
): void {
  const floats = floatTensor(matrix);
  const { K, rows, format } = matrix;
  if (floats) {
    linearBackwardInput(plan, variant, dy, floats, dx, { N, K, M: rows });
    return;
  }
  for (const { firstRow: first, rows: partRows, weights: b } of matrix.parts) {
    const a = first === 0 ? dy : slice(dy, `${dy.name} from ${first}`, first, [N * rows - first]);
    const sizes = { I: N, J: K, K: partRows, ci: K, add: first > 0 ? 1 : 0 };
    const strides = { ai: rows, ak: 1, bk: K, bj: 1, chunk: 16 * Math.ceil(partRows / 16) };
    const tile = tileFor(N, K);
    const dims = { ...UNSPLIT, ...sizes, ...strides, ...tile.dims };
    plan.dispatch(format.tilesKernel, { a, b, gate_up: a, c: dx }, dims, tile.constants);
  }
}

/** The matrix as one tensor of floats; null if it is packed or has several parts. */
function floatTensor({ format, parts }: Matrix): Tensor | null {
  return format.tilesKernel === kernels.matmulTiles && parts.length === 1 ? parts[0]!.weights : null;
}

/** Up to ROWS_PER_THREAD rows, 32 threads share four columns of c; with more rows, 8 threads do. */
function fewRowsConstants(N: number) {
  const rows = Math.min(N, ROWS_PER_THREAD);
  const rowGroups = N / rows;
  const width = Math.min(MAX_GROUP_THREADS, MAX_WORKGROUP_THREADS / rowGroups);
  const lanes = rowGroups > 1 ? 8 : 32;
  return {
    columnsPerGroup: (4 * width) / lanes,
    constants: { ROWS: rows, GROUPS: rowGroups, WIDTH: width, LANES: lanes },
  };
}
