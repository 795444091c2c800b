import * as kernels from '../../../gpu/kernels/index.ts';
import type { Plan } from '../../../gpu/plan.ts';
import { slice, type Tensor } from '../../../gpu/tensor.ts';
import type { SetParts } from '../kernelSets.ts';
import { linear, linearBackwardInput } from '../layers.ts';
import type { Matrix } from './matrices.ts';

/** Most rows of a product with matmul_rows, those a thread of it sums, and threads of a workgroup. */
export const FEW = 64;
const ROWS = 4;
const MOST_THREADS = 256;
const THREADS = 64;

/** A product in one piece, of one matrix. */
const WHOLE = { az: 0, bz: 0, cz: 0, parts: 1, cp: 0, swiglu: 0, block: 4, Z: 1 };

/** Records c (N, rows) = a (N,K)·matrixᵀ, or added to c, part by part. */
export function recordProduct(plan: Plan, a: Tensor, matrix: Matrix, c: Tensor, N: number, add = false): void {
  if (N > FEW) {
    recordTiles(plan, a, matrix, c, N, add);
    return;
  }
  const { across, constants } = fewRows(N);
  for (const { b, columns, dims } of partsOf(matrix, c, N, add)) {
    plan.dispatch(matrix.format.rows, { a, b, c: columns }, { ...dims, across }, constants);
  }
}

/** Records the same in tiles, however few rows: of floats in one part with the kernel that suits the adapter. Four divides all sizes but N. */
export function recordWide(
  plan: Plan,
  variant: SetParts['products'],
  a: Tensor,
  matrix: Matrix,
  c: Tensor,
  N: number,
  add = false,
): void {
  const floats = floatsOf(matrix);
  if (floats) linear(plan, variant, a, floats, c, { N, K: matrix.K, M: matrix.rows }, add);
  else recordTiles(plan, a, matrix, c, N, add);
}

function recordTiles(plan: Plan, a: Tensor, matrix: Matrix, c: Tensor, N: number, add: boolean): void {
  const { K, format } = matrix;
  const strides = { ai: K, ak: 1, bk: 1, bj: K, chunk: 16 * Math.ceil(K / 16) };
  for (const { b, columns, dims } of partsOf(matrix, c, N, add)) {
    plan.dispatch(format.tiles, { a, b, gate_up: a, c: columns }, { ...dims, ...WHOLE, ...strides });
  }
}

/** The parts of a product, each of so many columns of c. */
function partsOf({ K, rows: ci, parts }: Matrix, c: Tensor, N: number, add: boolean) {
  return parts.map(({ first, rows: J, weights: b }) => {
    const columns = first === 0 ? c : slice(c, `${c.name} from ${first}`, first, [N * ci - first]);
    return { b, columns, dims: { I: N, J, K, ci, add: add ? 1 : 0 } };
  });
}

/** Records dx (N,K) = dy (N, rows)·matrix, part by part; four divides rows. */
export function recordProductBackward(
  plan: Plan,
  variant: SetParts['products'],
  dy: Tensor,
  matrix: Matrix,
  dx: Tensor,
  N: number,
): void {
  const floats = floatsOf(matrix);
  const { K, rows, format } = matrix;
  if (floats) {
    linearBackwardInput(plan, variant, dy, floats, dx, { N, K, M: rows });
    return;
  }
  for (const { first, rows: own, weights: b } of matrix.parts) {
    const a = first === 0 ? dy : slice(dy, `${dy.name} from ${first}`, first, [N * rows - first]);
    const sizes = { I: N, J: K, K: own, ci: K, add: first > 0 ? 1 : 0 };
    const strides = { ai: rows, ak: 1, bk: K, bj: 1, chunk: 16 * Math.ceil(own / 16) };
    plan.dispatch(format.tiles, { a, b, gate_up: a, c: dx }, { ...WHOLE, ...sizes, ...strides });
  }
}

/** The matrix as a tensor of floats; null where it is packed or lies in parts. */
function floatsOf({ format, parts }: Matrix): Tensor | null {
  return format.tiles === kernels.matmulTiles && parts.length === 1 ? parts[0]!.weights : null;
}

/** How a workgroup of matmul_rows is divided where there are N rows: with the fewest rows, all its threads share columns. */
function fewRows(N: number) {
  const rows = Math.min(N, ROWS);
  const groups = N / rows;
  const width = Math.min(THREADS, MOST_THREADS / groups);
  const lanes = groups > 1 ? 8 : 32;
  return { across: (4 * width) / lanes, constants: { ROWS: rows, GROUPS: groups, WIDTH: width, LANES: lanes } };
}
