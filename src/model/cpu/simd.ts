import type { ModelConfig } from '../architecture.ts';
import type { Arithmetic, PackedFormats, Rounding, UnmaskedRows } from './arithmetic.ts';
import { attentionShape, qkvWidth } from './attention.ts';
import { attend, attendBackward } from './wasm/attentionKernels.ts';
import { constant, fused } from './wasm/instructions.ts';
import { addInto, normHeads, rmsNorm, rmsNormBackward, rotate, swiglu, swigluBackward } from './wasm/layerKernels.ts';
import { matmulAlong, matmulNT } from './wasm/matmulKernels.ts';
import { WIDENED_BYTES } from './wasm/integerProductsOfMany.ts';
import { FLOAT_FORMATS, INTEGER_FORMATS, packedKernels } from './wasm/packedKernels.ts';
import { exponentials } from './wasm/nextTokenKernels.ts';
import { logitGradients, subtractScalar, softmaxSums } from './wasm/headKernels.ts';
import { PANEL_BYTES, panelProduct } from './wasm/panelKernels.ts';
import { encodeModule, routine } from './wasm/routine.ts';
import { slotKernels } from './wasm/slotKernels.ts';
import { CACHE_LINE, teamKernels } from './wasm/teamKernels.ts';
import { Team, teamBytes } from './team/team.ts';
import { type Kernel, threadedKernels } from './team/threaded.ts';
import { oneThread, nameOf, type Threads } from './team/threads.ts';

const BYTES = 4;
const PAGE = 65_536;
const MAX_PAGES = 65_536; // 4 GiB, the range of a 32-bit address
/**
 * Arrays begin at multiples of this many bytes, and at least as many bytes follow each array. So vectors can read past
 * the end of an array, but never past the end of the memory.
 */
const ALIGNMENT = 16;
/** Extra bytes for alignment and the gaps between arrays. */
const ALIGNMENT_RESERVE = 2 ** 20;
/**
 * Number of terms of a weight gradient that are summed before the sum is added to the gradient. Both factors then stay
 * in the processor's cache, and float32 loses less precision.
 */
const TERMS_PER_SUM = 128;

/** Compiled modules by model size, because a run opens several policies of one model. */
const modules = new Map<string, Compiled>();
interface Compiled {
  readonly module: WebAssembly.Module;
  readonly names: readonly string[]; // names of its kernels
}

/** From this many rows of x on, it's faster to widen a group of weights once for all rows. */
const MIN_ROWS_TO_WIDEN = 4;

/** The kernels that multiply with packed weights. */
const PACKED_PRODUCTS = [
  ...[...FLOAT_FORMATS, ...INTEGER_FORMATS].map((name) => `product${name}`),
  ...Array.from(INTEGER_FORMATS, (name) => `product${name}OfMany`),
];

/** The packed formats that these kernels support. */
export const packedFormats: PackedFormats = {
  takes: ({ name }, columns) =>
    INTEGER_FORMATS.has(name) ? columns % 32 === 0 : FLOAT_FORMATS.has(name) && columns % 4 === 0,
  integers: ({ name }) => INTEGER_FORMATS.has(name),
  // the beginning holds the widened weights of a product with many rows
  quantizedSize: (n, k) => (n * k) / 2 + (n * k) / 16 + (WIDENED_BYTES * k) / BYTES,
};

let isFusedHere: boolean | null = null;

/** Whether the processor and browser have fused multiply-add, which rounds once (WebAssembly's relaxed SIMD). */
export function hasFused(): boolean {
  const probe = routine(['y'], 'probe', (f, { y }) => f.store(y, fused(constant(1), constant(1), constant(1))));
  return (isFusedHere ??= WebAssembly.validate(encodeModule([probe])));
}

/** Options of `simdArithmetic`. */
export interface SimdOptions {
  readonly threads?: Threads | undefined; // one by default
  readonly rounding?: Rounding; // `portable` by default
}

/**
 * Compiles the model's kernels. `shared` says whether threads share the memory. Throws without SIMD, or if a policy of
 * the page forbids WebAssembly.
 */
function compileKernels(model: ModelConfig, shared: boolean, rounding: Rounding): Compiled {
  const shape = attentionShape(model);
  const d = model.hidden_size;
  const isFused = rounding === 'fused' && hasFused();
  const sizes = JSON.stringify([shape, d, model.rms_norm_eps, shared, rounding, isFused]);
  const cached = modules.get(sizes);
  if (cached) return cached;
  const routines = [
    matmulNT,
    matmulAlong(isFused),
    ...(rounding === 'fused' ? [panelProduct('NT', isFused), panelProduct('NN', isFused)] : []),
    ...(rounding === 'fused' ? [softmaxSums, subtractScalar, logitGradients] : []),
    ...(['Rows', 'Table'] as const).flatMap((layout) => [
      attend(shape, layout, isFused),
      attendBackward(shape, layout, isFused),
    ]),
    rmsNorm(d, model.rms_norm_eps),
    rmsNormBackward(d),
    normHeads(shape, model.rms_norm_eps),
    rotate(shape),
    swiglu,
    swigluBackward,
    addInto,
    ...packedKernels(),
    ...slotKernels(shape),
    exponentials,
  ];
  const all = shared ? [...routines, ...teamKernels(routines)] : routines;
  const module = new WebAssembly.Module(encodeModule(all, shared));
  const compiled = { module, names: routines.map(({ name }) => name) };
  modules.set(sizes, compiled);
  return compiled;
}

/**
 * Creates an instance of the module with its own memory. Returns null without WebAssembly SIMD, or if there isn't
 * enough memory.
 */
function instantiate(model: ModelConfig, pages: number, shared: boolean, rounding: Rounding) {
  if (pages > MAX_PAGES) return null;
  try {
    const memory = new WebAssembly.Memory(shared ? { initial: pages, maximum: pages, shared } : { initial: pages });
    const { module, names } = compileKernels(model, shared, rounding);
    const { exports } = new WebAssembly.Instance(module, { host: { memory } });
    return { module, names, memory, buffer: memory.buffer, kernel: (name: string) => exports[name] as Kernel };
  } catch {
    return null;
  }
}

/**
 * Creates an arithmetic of WebAssembly SIMD kernels with one memory of `bytes`. The system provides the memory when
 * it's first used, and frees it with the last array. Returns null without SIMD or without enough memory. All sums are
 * float32, in an order that depends only on the model's sizes. So the number of threads never changes the result and,
 * with `portable` rounding, neither does the processor.
 */
export function simdArithmetic(
  model: ModelConfig,
  bytes: number,
  { threads = oneThread(''), rounding = 'portable' }: SimdOptions = {},
): Arithmetic | null {
  const shared = threads.count > 1;
  const bytesOfTeam = shared ? CACHE_LINE + teamBytes(threads.count) : 0;
  const instance = instantiate(model, Math.ceil((bytes + ALIGNMENT_RESERVE + bytesOfTeam) / PAGE), shared, rounding);
  if (!instance) return null;
  const { buffer } = instance;
  const team = shared ? new Team(instance, threads, CACHE_LINE) : null;
  const kernel = team ? threadedKernels(model, buffer, instance.kernel, team) : instance.kernel;
  let used = Math.max(ALIGNMENT, bytesOfTeam); // address 0 means “no array”
  const take = (size: number) => {
    const start = used;
    used = Math.ceil((used + size * BYTES) / ALIGNMENT + 1) * ALIGNMENT;
    if (used <= buffer.byteLength) return start;
    throw new Error(
      `reals: ${used} bytes are needed, and the memory has ${buffer.byteLength}. Its bound is too small.`,
    );
  };
  const at = (array: Float32Array | Float64Array | Int32Array) => {
    if (array.buffer === buffer) return array.byteOffset;
    throw new Error('A kernel got an array that its own reals() or integers() did not make.');
  };
  const run = {
    matmulNT: kernel('matmulNT'),
    matmulAlong: kernel('matmulAlong'),
    panelsNT: kernel('panelsNT'),
    panelsNN: kernel('panelsNN'),
    attendRows: kernel('attendRows'),
    attendTable: kernel('attendTable'),
    attendBackwardRows: kernel('attendBackwardRows'),
    attendBackwardTable: kernel('attendBackwardTable'),
    rmsNorm: kernel('rmsNorm'),
    rmsNormBackward: kernel('rmsNormBackward'),
    swiglu: kernel('swiglu'),
    normHeads: kernel('normHeads'),
    rotate: kernel('rotate'),
    quantize: kernel('quantize'),
    swigluBackward: kernel('swigluBackward'),
    addInto: kernel('addInto'),
    exponentials: kernel('exponentials'),
  };
  const products = new Map(PACKED_PRODUCTS.map((name) => [name, kernel(name)]));
  const scalars = new Float32Array(buffer, take(3), 3);
  const panel = rounding === 'fused' ? take(PANEL_BYTES / BYTES) : 0;
  const shape = attentionShape(model);
  const row = qkvWidth(shape) * BYTES;
  return {
    model,
    precision: 'f32',
    name: nameOf(threads),
    ...(team && { team }),
    reals: (size) => new Float32Array(buffer, take(size), size),
    integers: (size) => new Int32Array(buffer, take(size), size),
    matmulNT: (y, x, w, n, o, k) => {
      if (rounding === 'portable') run.matmulNT(at(y), o * BYTES, at(x), at(w), n, o, k);
      else run.panelsNT(at(y), o * BYTES, at(x), at(w), k * BYTES, n, o, k, panel);
    },
    matmulNN: (y, x, w, n, o, k) => {
      if (rounding === 'portable') run.matmulAlong(at(y), o * BYTES, at(x), k * BYTES, BYTES, at(w), n, o, k, 0);
      else run.panelsNN(at(y), o * BYTES, at(x), at(w), o * BYTES, n, o, k, panel);
    },
    matmulTN: (y, x, w, n, o, k) => {
      for (let c = 0; c < k; c += TERMS_PER_SUM) {
        const xAt = at(x) + c * n * BYTES;
        const wAt = at(w) + c * o * BYTES;
        run.matmulAlong(at(y), o * BYTES, xAt, BYTES, n * BYTES, wAt, n, o, Math.min(TERMS_PER_SUM, k - c), 1);
      }
    },
    attend: (out, keptProbabilities, qkv, keys, values, stride, { first, counts, table }, scores, n) => {
      const attend = table ? run.attendTable : run.attendRows;
      const rows = [at(keys), at(values), stride * BYTES, table ? at(table) : 0, at(first), at(counts)] as const;
      attend(at(out), keptProbabilities ? at(keptProbabilities) : 0, at(qkv), row, ...rows, at(scores), n);
    },
    attendBackward: (dqkv, dout, keptProbabilities, qkv, { first, counts, table }, scores, n) => {
      const attendBackward = table ? run.attendBackwardTable : run.attendBackwardRows;
      const rows = [row, table ? at(table) : 0, at(first), at(counts)] as const;
      dqkv.fill(0, 0, (n * row) / BYTES);
      attendBackward(at(dqkv), at(dout), at(keptProbabilities), at(qkv), ...rows, at(scores), n, 0, shape.heads);
    },
    slots: (isHalf) => {
      const format = isHalf ? 'F16' : 'F32';
      const [store, attend] = [kernel(`storeSlots${format}`), kernel(`attendSlots${format}`)];
      return {
        store: (keys, values, qkv, tables, { first, counts }, n) =>
          store(at(keys), at(values), at(qkv), row, at(tables), at(first), at(counts), n),
        attend: (out, qkv, keys, values, tables, { first, counts }, scores, n) => {
          const stored = [at(keys), at(values), at(tables), at(first), at(counts)] as const;
          const scoreStride = Math.floor(scores.length / (shape.heads / shape.kvHeads) / 4) * 4 * BYTES;
          attend(at(out), at(qkv), row, ...stored, at(scores), scoreStride, n, shape.kvHeads);
        },
      };
    },
    exponentials: (e, z, temperature) => {
      scalars[1] = temperature;
      run.exponentials(at(e), at(z), at(scalars), z.length);
      return scalars[0]!;
    },
    rmsNorm: (y, scales, x, weight, n) => run.rmsNorm(at(y), at(scales), at(x), at(weight), n),
    rmsNormBackward: (dx, dweight, dy, x, scales, weight, n) =>
      run.rmsNormBackward(at(dx), at(dweight), at(dy), at(x), at(scales), at(weight), n),
    normHeads: (qkv, qWeight, kWeight, n) => run.normHeads(at(qkv), at(qWeight), at(kWeight), n),
    rotate: (x, positions, table, n, direction) => run.rotate(at(x), at(positions), at(table), n, direction),
    swiglu: (out, sigmoid, gateUp, n, f) => run.swiglu(at(out), at(sigmoid), at(gateUp), n, f),
    swigluBackward: (dgateUp, dout, sigmoid, gateUp, n, f) =>
      run.swigluBackward(at(dgateUp), at(dout), at(sigmoid), at(gateUp), n, f),
    addInto: (y, a, b, size) => run.addInto(at(y), at(a), at(b), size),
    ...(rounding === 'fused' && { unmaskedRows: unmaskedRowsOf(scalars, at, kernel) }),
    packed: {
      ...packedFormats,
      quantize: (into, x, n, k) => {
        const blocks = (n * k) / 32;
        const out = at(into) + WIDENED_BYTES * k;
        const scales = out + 2 * n * k;
        run.quantize(out, scales, scales + BYTES * blocks, at(x), blocks);
      },
      product: ({ name }, y, column, stride, x, w, n, o, k) => {
        const integers = INTEGER_FORMATS.has(name);
        const from = at(x) + (integers ? WIDENED_BYTES * k : 0);
        const parameters = [at(y) + column * BYTES, stride * BYTES, from, at(w), n, o, k] as const;
        if (integers && n >= MIN_ROWS_TO_WIDEN) products.get(`product${name}OfMany`)!(...parameters, at(x));
        else products.get(`product${name}`)!(...parameters);
      },
    },
  };
}

/** Creates the operations on whole rows of logits. The kernels read and write single numbers in `scalars`. */
function unmaskedRowsOf(
  scalars: Float32Array,
  at: (array: Float32Array | Float64Array) => number,
  kernel: (name: string) => (...parameters: number[]) => void,
): UnmaskedRows {
  const [sums, subtract, gradients] = [kernel('softmaxSums'), kernel('subtractScalar'), kernel('logitGradients')];
  return {
    logSoftmax: (row, temperature) => {
      scalars[0] = temperature;
      sums(at(row), row.length, at(scalars));
      const log = Math.log(scalars[0]);
      const entropy = log - scalars[1]! / scalars[0];
      scalars[0] = log;
      subtract(at(row), row.length, at(scalars));
      return entropy;
    },
    gradients: (row, g, e, entropy) => {
      scalars.set([g, e, entropy]);
      gradients(at(row), row.length, at(scalars));
    },
  };
}
