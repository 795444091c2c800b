import * as kernels from '../../gpu/kernels/index.ts';
import type { Plan } from '../../gpu/plan.ts';
import { slice, type Tensor } from '../../gpu/tensor.ts';
import { linear, linearBackwardInput, type ProductKernel } from './layers.ts';
import type { Matrix } from './matrices.ts';

/** Maximum rows of a product with matmul_rows. Products of more rows use matmul_tiles. */
export const MAX_FEW_ROWS = 64;
/** Maximum rows that a thread of matmul_rows sums. */
const ROWS_PER_THREAD = 4;
const MAX_GROUP_THREADS = 64;
const MAX_WORKGROUP_THREADS = 256;

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
    recordTiledProduct(plan, matrix.format.tilesKernel, a, matrix, c, N, add);
    return;
  }
  const { columnsPerGroup, constants } = fewRowsConstants(N);
  const also = { ...(norm && { NORM: 1, EPS: norm.eps }), ...(gated && { GATED: 1 }) };
  for (const { weights: b, rows: J, columns } of columnsOfParts(matrix, c, N)) {
    const ci = gated ? matrix.rows / 2 : matrix.rows;
    const operands = { a, b, weight: norm?.weight ?? a, c: columns };
    const dims = { I: N, J, K: matrix.K, ci, add: add ? 1 : 0, columnsPerGroup };
    plan.dispatch(matrix.format.fewRowsKernel, operands, dims, { ...constants, ...also });
  }
}

/** Whether a product of N rows with these gates and ups can apply their activation: a gate and its up are in the same part. */
export const canGate = ({ parts }: Matrix, N: number) => N <= MAX_FEW_ROWS && parts.length === 1;

/**
 * Records c (N, rows) = a (N,K)·matrixᵀ, one dispatch per part, with tiles, which allow any N. A float matrix in one part
 * uses the variant's kernel. Sizes except N are multiples of 4 unless it does.
 */
export function recordTiledProduct(
  plan: Plan,
  variant: ProductKernel,
  a: Tensor,
  matrix: Matrix,
  c: Tensor,
  N: number,
  add = false,
): void {
  const { K, rows: width } = matrix;
  for (const { weights, rows: M, columns } of columnsOfParts(matrix, c, N))
    linear(plan, kernelFor(matrix, variant), a, weights, columns, { N, K, M, width }, add);
}

/**
 * Records dx (N,K) = dy (N, rows)·matrix, one dispatch per part. With `gateUp`, which needs a single part, dx (N, 2·K) is
 * the gradient of these gates and ups; see `linearBackwardInput`.
 */
export function recordProductBackward(
  plan: Plan,
  variant: ProductKernel,
  dy: Tensor,
  matrix: Matrix,
  dx: Tensor,
  N: number,
  gateUp?: Tensor,
): void {
  const { K, rows: width } = matrix;
  for (const { weights, rows: M, columns, firstRow } of columnsOfParts(matrix, dy, N)) {
    const store = { add: firstRow > 0, ...(gateUp && { gateUp }) };
    linearBackwardInput(plan, kernelFor(matrix, variant), columns, weights, dx, { N, K, M, width }, store);
  }
}

/** The parts of a matrix, each with its columns of c (N, rows), from the first on. */
function columnsOfParts({ rows, parts }: Matrix, c: Tensor, N: number) {
  return parts.map((part) => {
    const { firstRow: first } = part;
    return { ...part, columns: first === 0 ? c : slice(c, `${c.name} from ${first}`, first, [N * rows - first]) };
  });
}

function kernelFor({ format: { tilesKernel }, parts }: Matrix, variant: ProductKernel): ProductKernel {
  return tilesKernel === kernels.matmulTiles && parts.length === 1 ? variant : tilesKernel;
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
