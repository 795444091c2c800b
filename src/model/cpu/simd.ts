import type { ModelConfig } from '../architecture.ts';
import type { Arithmetic, LegalTokens, PackedFormats, Rounding } from './arithmetic.ts';
import { attentionShape, qkvWidth, type VisibleKeys } from '../attentionShape.ts';
import { attend, attendBackward } from './wasm/attentionKernels.ts';
import { constant, fused } from './wasm/instructions.ts';
import {
  addInto,
  addRows,
  clear,
  copy,
  gatherRows,
  normHeads,
  normHeadsBackward,
  rmsNorm,
  rmsNormBackward,
  rotate,
  storeKeys,
  swiglu,
  swigluBackward,
} from './wasm/layerKernels.ts';
import { matmulAlong, matmulNT } from './wasm/matmulKernels.ts';
import { WIDENED_BYTES } from './wasm/integerProductsOfMany.ts';
import { FLOAT_FORMATS, INTEGER_FORMATS, packedKernels } from './wasm/packedKernels.ts';
import { exponentials } from './wasm/nextTokenKernels.ts';
import { gradientRows, softmaxRows } from './wasm/headKernels.ts';
import { PANEL_BYTES, panelProduct } from './wasm/panelKernels.ts';
import { encodeModule, routine } from './wasm/routine.ts';
import { slotKernels } from './wasm/slotKernels.ts';
import type { Real } from '../learning/real.ts';
import { CACHE_LINE, teamKernels, turnKernels } from './wasm/teamKernels.ts';
import { runInOrder, Team, teamBytes } from './team/team.ts';
import { type Kernel, threadedKernels } from './team/threadedKernels.ts';
import { oneThread, arithmeticName, threadsText, type Threads } from './team/threads.ts';

const FLOAT_BYTES = 4;
const PAGE = 65_536;
const MAX_PAGES = 65_536; // 4 GiB, the range of a 32-bit address
/** Arrays begin at multiples of this many bytes, and as many follow each: vectors may read past an array, never past the memory. */
const ALIGNMENT = 16;
/** Extra bytes for alignment and the gaps between arrays. */
const ALIGNMENT_RESERVE = 2 ** 20;
/** Terms of a weight gradient summed before they're added to it: both factors stay in the cache, and float32 loses less precision. */
const TERMS_PER_SUM = 128;

/** Compiled modules by model size, because a run opens several policies of one model. */
const modules = new Map<string, Compiled>();
interface Compiled {
  readonly module: WebAssembly.Module;
  readonly parameters: ReadonlyMap<string, readonly string[]>; // names of the parameters of each kernel
}

/** What a kernel can be called with; see `call`. */
type KernelValue = number | Real | Int32Array | VisibleKeys | LegalTokens | null;

/** From this many rows of x on, it's faster to widen a group of weights once for all rows. */
const MIN_ROWS_TO_WIDEN = 4;

export const packedFormats: PackedFormats = {
  canStayPacked: ({ name }, columns) =>
    INTEGER_FORMATS.has(name) ? columns % 32 === 0 : FLOAT_FORMATS.has(name) && columns % 4 === 0,
  hasIntegers: ({ name }) => INTEGER_FORMATS.has(name),
  // the beginning holds the widened weights of a product with many rows
  quantizedSize: (n, k) => (n * k) / 2 + (n * k) / 16 + (WIDENED_BYTES * k) / FLOAT_BYTES,
};

let cachedHasFused: boolean | null = null;

/** Whether the processor and browser have fused multiply-add, which rounds once (WebAssembly's relaxed SIMD). */
export function hasFused(): boolean {
  const probe = routine(['y'], 'probe', (f, { y }) => f.store(y, fused(constant(1), constant(1), constant(1))));
  return (cachedHasFused ??= WebAssembly.validate(encodeModule([probe])));
}

export interface SimdOptions {
  readonly threads?: Threads | undefined; // one by default
  readonly rounding?: Rounding; // `portable` by default
}

/** `shared`: threads share the memory. Throws without SIMD, or if a policy of the page forbids WebAssembly. */
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
    softmaxRows(false),
    softmaxRows(true),
    gradientRows,
    attend(shape, isFused),
    attendBackward(shape, isFused),
    rmsNorm(d, model.rms_norm_eps),
    rmsNormBackward(d),
    normHeads(shape, model.rms_norm_eps),
    normHeadsBackward(shape, model.rms_norm_eps),
    rotate(shape),
    swiglu,
    swigluBackward,
    addInto,
    addRows,
    clear,
    copy,
    gatherRows,
    storeKeys(shape),
    ...packedKernels(),
    ...slotKernels(shape),
    exponentials,
    ...(shared ? turnKernels : []),
  ];
  const allRoutines = shared ? [...routines, ...teamKernels(routines)] : routines;
  const module = new WebAssembly.Module(encodeModule(allRoutines, shared));
  const compiled = { module, parameters: new Map(routines.map(({ name, parameters }) => [name, parameters])) };
  modules.set(sizes, compiled);
  return compiled;
}

/** With a memory of its own. Null without WebAssembly SIMD, or if there isn't enough memory. */
function instantiate(model: ModelConfig, pages: number, shared: boolean, rounding: Rounding) {
  if (pages > MAX_PAGES) return null;
  try {
    const memory = new WebAssembly.Memory(shared ? { initial: pages, maximum: pages, shared } : { initial: pages });
    const { module, parameters } = compileKernels(model, shared, rounding);
    const { exports } = new WebAssembly.Instance(module, { host: { memory } });
    return { module, parameters, memory, buffer: memory.buffer, kernel: (name: string) => exports[name] as Kernel };
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
  const memoryOfTeam = shared ? CACHE_LINE + teamBytes(threads.count) : 0;
  const instance = instantiate(model, Math.ceil((bytes + ALIGNMENT_RESERVE + memoryOfTeam) / PAGE), shared, rounding);
  if (!instance) return null;
  const { buffer } = instance;
  const team = shared ? new Team(instance, threads, CACHE_LINE) : null;
  const kernel = team ? threadedKernels(model, instance, team) : instance.kernel;
  let usedBytes = Math.max(ALIGNMENT, memoryOfTeam); // address 0 means “no array”
  const allocate = (size: number) => {
    const start = usedBytes;
    usedBytes = Math.ceil((usedBytes + size * FLOAT_BYTES) / ALIGNMENT + 1) * ALIGNMENT;
    if (usedBytes <= buffer.byteLength) return start;
    throw new Error(
      `reals: ${usedBytes} bytes are needed, and the memory has ${buffer.byteLength}. Its bound is too small.`,
    );
  };
  const addressOf = (array: Float32Array | Float64Array | Int32Array) => {
    if (array.buffer === buffer) return array.byteOffset;
    throw new Error('A kernel got an array that its own reals() or integers() did not make.');
  };
  const kernels = new Map([...instance.parameters].map(([name, names]) => [name, { run: kernel(name), names }]));
  /**
   * Calls a kernel with the parameters that its routine declares. An array stands for its address, null for 0. An object
   * stands for the parameters with the names of its arrays.
   */
  const call = (name: string, ...values: readonly KernelValue[]) => {
    const { run, names } = kernels.get(name)!;
    const parameters: number[] = [];
    for (const value of values) {
      if (typeof value === 'number') parameters.push(value);
      else if (value === null) parameters.push(0);
      else if (ArrayBuffer.isView(value)) parameters.push(addressOf(value));
      else {
        const arrays = new Map<string, Int32Array>(Object.entries(value));
        for (let array; (array = arrays.get(names[parameters.length]!));) parameters.push(addressOf(array));
      }
    }
    run(...parameters);
  };
  const declared =
    (name: string) =>
    (...values: readonly KernelValue[]) =>
      call(name, ...values);
  const scalars = new Float32Array(buffer, allocate(3), 3);
  const panel = rounding === 'fused' ? allocate(PANEL_BYTES / FLOAT_BYTES) : 0;
  const shape = attentionShape(model);
  return {
    model,
    precision: 'f32',
    name: arithmeticName(threads),
    threads: threadsText(threads),
    ...(team && { team }),
    reals: (size) => new Float32Array(buffer, allocate(size), size),
    integers: (size) => new Int32Array(buffer, allocate(size), size),
    matmulNT: (y, x, w, n, o, k) => {
      if (rounding === 'fused') call('panelsNT', y, o * FLOAT_BYTES, x, w, k * FLOAT_BYTES, n, o, k, panel);
      else call('matmulNT', y, o * FLOAT_BYTES, x, w, n, o, k);
    },
    matmulNN: (y, x, w, n, o, k) => {
      if (rounding === 'fused') call('panelsNN', y, o * FLOAT_BYTES, x, w, o * FLOAT_BYTES, n, o, k, panel);
      else call('matmulAlong', y, o * FLOAT_BYTES, x, k * FLOAT_BYTES, FLOAT_BYTES, w, n, o, k, 0);
    },
    matmulTN: (y, x, w, n, o, k) => {
      const [xRow, wRow] = [n * FLOAT_BYTES, o * FLOAT_BYTES];
      for (let c = 0; c < k; c += TERMS_PER_SUM) {
        const terms = Math.min(TERMS_PER_SUM, k - c);
        call(
          'matmulAlong',
          y,
          wRow,
          addressOf(x) + c * xRow,
          FLOAT_BYTES,
          xRow,
          addressOf(w) + c * wRow,
          n,
          o,
          terms,
          1,
        );
      }
    },
    attend: declared('attend'),
    attendBackward: (dqkv, dout, keptProbabilities, qkv, visible, scores, n) => {
      call('clear', dqkv, n * qkvWidth(shape));
      call('attendBackward', dqkv, dout, keptProbabilities, qkv, visible, scores, n, 0, shape.heads);
    },
    slotKernels: (isFloat16) => {
      const format = isFloat16 ? 'F16' : 'F32';
      return {
        store: declared(`storeSlots${format}`),
        attend: (out, qkv, keys, values, tables, visible, scores, n) => {
          const scoreStride = Math.floor(scores.length / (shape.heads / shape.kvHeads) / 4) * 4 * FLOAT_BYTES;
          call(`attendSlots${format}`, out, qkv, keys, values, tables, visible, scores, scoreStride, n, shape.kvHeads);
        },
      };
    },
    exponentials: (e, z, temperature) => {
      scalars[1] = temperature;
      call('exponentials', e, z, scalars, z.length);
      return scalars[0]!;
    },
    rmsNorm: declared('rmsNorm'),
    rmsNormBackward: declared('rmsNormBackward'),
    normHeads: declared('normHeads'),
    normHeadsBackward: declared('normHeadsBackward'),
    copy: declared('copy'),
    rotate: declared('rotate'),
    swiglu: declared('swiglu'),
    swigluBackward: declared('swigluBackward'),
    addInto: declared('addInto'),
    gatherRows: declared('gatherRows'),
    gradientRows: declared('gradientRows'),
    addBias: (y, bias, n, o) => call('addRows', y, o * FLOAT_BYTES, bias, 0, n, o),
    addColumnSums: (dbias, dy, n, o) => call('addRows', dbias, 0, dy, o * FLOAT_BYTES, n, o),
    storeKeys: declared('storeKeys'),
    runPass: team ? (parts) => team.runPass(parts) : runInOrder,
    softmaxRows: (z, sums, temperature, n, v, legal) => {
      if (legal) call('softmaxRowsMasked', z, sums, temperature, n, v, legal);
      else call('softmaxRows', z, sums, temperature, n, v, 0, 0);
    },
    packedKernels: {
      ...packedFormats,
      quantize: (into, x, n, k) => {
        const blocks = (n * k) / 32;
        const out = addressOf(into) + WIDENED_BYTES * k;
        const scales = out + 2 * n * k;
        call('quantize', out, scales, scales + FLOAT_BYTES * blocks, x, blocks);
      },
      product: ({ name }, y, column, stride, x, w, n, o, k) => {
        const integers = INTEGER_FORMATS.has(name);
        const xAddress = addressOf(x) + (integers ? WIDENED_BYTES * k : 0);
        const parameters = [addressOf(y) + column * FLOAT_BYTES, stride * FLOAT_BYTES, xAddress, w, n, o, k] as const;
        if (integers && n >= MIN_ROWS_TO_WIDEN) call(`product${name}OfMany`, ...parameters, x);
        else call(`product${name}`, ...parameters);
      },
    },
  };
}
