import type { ModelConfig } from '../../architecture.ts';
import { attentionShape, qkvWidth, type AttentionShape } from '../../attentionShape.ts';
import { BYTES, type Cutter, splitRows, divideIntoUnits } from './cut.ts';
import { SCRATCH_BYTES, type Team, type Part } from './team.ts';
import { MAX_PARTS } from '../wasm/teamKernels.ts';
import { slotLayout, type SlotFormat } from '../wasm/slotKernels.ts';
import { BLOCK_SIZE, INTEGER_BLOCKS } from '../wasm/integerBlocks.ts';
import { WIDENED_BYTES } from '../wasm/integerProductsOfMany.ts';
import { type WeightLayout, PANEL_BYTES } from '../wasm/panelKernels.ts';
import { FLOAT_BYTES } from '../wasm/packedKernels.ts';

/** Columns of y in a unit: one cache line, if rows begin at a cache line. */
const UNIT_COLUMNS = 16;
/** Rows of y in a unit: as many as a product computes together. */
const UNIT_ROWS = 4;
/** Time to round one number to 16 bits, in multiply-adds. */
const ROUNDING_COST = 12;

/** By rows, otherwise by columns: every thread reads all of the other factor, so the longer side is split. */
const splitsByRows = (n: number, o: number) => n > o;
const unitsOfProduct = (n: number, o: number) =>
  splitsByRows(n, o) ? divideIntoUnits(n, UNIT_ROWS) : divideIntoUnits(o, UNIT_COLUMNS);

const matmulNT: Cutter = (...parameters) => {
  const [y, yRow, x, w, n, o, k] = parameters as [number, number, number, number, number, number, number];
  const { units, span } = unitsOfProduct(n, o);
  const part = (from: number, to: number): Part => {
    const [start, count] = span(from, to);
    if (splitsByRows(n, o)) return [y + start * yRow, yRow, x + start * k * BYTES, w, count, o, k];
    return [y + start * BYTES, yRow, x, w + start * k * BYTES, n, count, k];
  };
  return { work: n * o * k, units, part };
};

const matmulAlong: Cutter = (...parameters) => {
  const [y, yRow, x, xRow, xStep, w, n, o, k, accumulate] = parameters as [
    ...[number, number, number, number, number],
    ...[number, number, number, number, number],
  ];
  const { units, span } = unitsOfProduct(n, o);
  const part = (from: number, to: number): Part => {
    const [start, count] = span(from, to);
    if (splitsByRows(n, o)) return [y + start * yRow, yRow, x + start * xRow, xRow, xStep, w, count, o, k, accumulate];
    return [y + start * BYTES, yRow, x, xRow, xStep, w + start * BYTES, n, count, k, accumulate];
  };
  return { work: n * o * k, units, part };
};

/** The width doesn't change results: in all panels, the terms of an output are added in the same order. */
const PANEL_COLUMNS = 12;

/** Splits a product by panels. Each thread copies the panels of the columns that it computes. */
const panels =
  (layout: WeightLayout): Cutter =>
  (...parameters) => {
    const [y, yRow, x, w, wRow, n, o, k, panel] = parameters as [
      ...[number, number, number, number, number],
      ...[number, number, number, number],
    ];
    const { units, span } = divideIntoUnits(o, PANEL_COLUMNS);
    const step = layout === 'NT' ? wRow : BYTES;
    const part = (from: number, to: number): Part => {
      const [start, count] = span(from, to);
      return [y + start * BYTES, yRow, x, w + start * step, wRow, n, count, k, panel];
    };
    return { work: n * o * k, units, part, scratch: { parameter: 8, bytes: PANEL_BYTES } };
  };

/** Rows of k weights have `rowBytes(k)` bytes. With `scratchBytes`, the address of as much scratch memory follows the sizes. */
const packedProduct =
  (rowBytes: (k: number) => number, scratchBytes: ((k: number) => number) | null): Cutter =>
  (...parameters) => {
    const [y, yRow, x, w, n, o, k] = parameters as [number, number, number, number, number, number, number];
    const { units, span } = divideIntoUnits(o, UNIT_COLUMNS);
    const part = (from: number, to: number): Part => {
      const [start, count] = span(from, to);
      return [y + start * BYTES, yRow, x, w + start * rowBytes(k), n, count, k, ...parameters.slice(7)];
    };
    return {
      work: n * o * k,
      units,
      part,
      scratch: scratchBytes ? { parameter: 7, bytes: scratchBytes(k) } : undefined,
    };
  };

const quantize: Cutter = (...parameters) => {
  const [yRow, scaleAt, sumAt, x, blocks] = parameters as [number, number, number, number, number];
  return {
    work: ROUNDING_COST * BLOCK_SIZE * blocks,
    units: blocks,
    part: (from, to) => [
      yRow + 2 * BLOCK_SIZE * from,
      scaleAt + BYTES * from,
      sumAt + BYTES * from,
      x + BYTES * BLOCK_SIZE * from,
      to - from,
    ],
  };
};

const floatCutters = Object.entries(FLOAT_BYTES).map(([name, bytes]): [string, Cutter] => [
  `product${name}`,
  packedProduct((k) => bytes * k, null),
]);
const integerCutters = Object.entries(INTEGER_BLOCKS).flatMap(([name, { bytes }]): [string, Cutter][] => {
  const rowBytes = (k: number) => (bytes * k) / BLOCK_SIZE;
  return [
    [`product${name}`, packedProduct(rowBytes, null)],
    [`product${name}OfMany`, packedProduct(rowBytes, (k) => WIDENED_BYTES * k)],
  ];
});

const productCutters: readonly (readonly [string, Cutter])[] = [
  ['matmulNT', matmulNT],
  ['matmulAlong', matmulAlong],
  ['panelsNT', panels('NT')],
  ['panelsNN', panels('NN')],
  ['quantize', quantize],
  ...floatCutters,
  ...integerCutters,
];

/** Time of one multiply-add of attention's forward pass, in multiply-adds of a matrix product. */
const FORWARD_COST = 2;
/** Time of one multiply-add of attention's backward pass, in multiply-adds of a matrix product. */
const BACKWARD_COST = 3;

/** `words` is the memory, `counts` the address of the number of keys that each of n queries sees. */
function keyCounts(words: Int32Array, counts: number, n: number) {
  const keyCount = words.subarray(counts / BYTES, counts / BYTES + n);
  return {
    pairs: keyCount.reduce((sum, count) => sum + count, 0),
    longest: keyCount.reduce((most, count) => Math.max(most, count), 0),
    pairsBefore: (row: number) => keyCount.subarray(0, row).reduce((sum, count) => sum + count, 0),
  };
}

/** Bytes of the scores of one query and one head, and of the vector that is read past their end. */
const scoreBytes = (longest: number) => (longest + 4) * BYTES;

const attend =
  ({ heads, headDim }: AttentionShape, words: Int32Array): Cutter =>
  (...parameters) => {
    const [out, keptProbabilities, q, qStride, keys, values, stride, table, first, counts, scores, n] = parameters as [
      ...[number, number, number, number, number, number],
      ...[number, number, number, number, number, number],
    ];
    const { pairs, longest, pairsBefore } = keyCounts(words, counts, n);
    return {
      work: 2 * FORWARD_COST * heads * headDim * pairs,
      units: n,
      part: (from, to) => [
        out + from * heads * headDim * BYTES,
        keptProbabilities === 0 ? 0 : keptProbabilities + heads * pairsBefore(from) * BYTES,
        q + from * qStride,
        ...[qStride, keys, values, stride, table],
        first + from * BYTES,
        counts + from * BYTES,
        ...[scores, to - from],
      ],
      scratch: { parameter: 10, bytes: scoreBytes(longest) },
    };
  };

/** Splits `attendBackward` by key heads, because several queries add to the gradient of one key. */
const attendBackward =
  ({ heads, kvHeads, headDim }: AttentionShape, words: Int32Array): Cutter =>
  (...parameters) => {
    const { pairs, longest } = keyCounts(words, parameters[7]!, parameters[9]!);
    const headsPerKv = heads / kvHeads;
    return {
      work: 5 * BACKWARD_COST * heads * headDim * pairs,
      units: kvHeads,
      part: (from, to) => [...parameters.slice(0, 10), from * headsPerKv, to * headsPerKv],
      scratch: { parameter: 8, bytes: scoreBytes(longest) },
    };
  };

/** Splits `attendSlots` by queries, or by key heads if there is only one query. */
const attendSlots =
  (shape: AttentionShape, format: SlotFormat, words: Int32Array): Cutter =>
  (...parameters) => {
    const [out, q, qStride, keys, values, tables, first, counts, scores, scoreStride, n, kvHeads] = parameters as [
      ...[number, number, number, number, number, number],
      ...[number, number, number, number, number, number],
    ];
    const { heads, headDim } = shape;
    const { headBytes } = slotLayout(shape, format);
    const width = heads * headDim * BYTES;
    const groupBytes = width / kvHeads;
    const headsPart = (from: number, to: number) => [
      ...[out + from * groupBytes, q + from * groupBytes, qStride, keys + from * headBytes, values + from * headBytes],
      ...[tables, first, counts, scores, scoreStride, 1, to - from],
    ];
    const queriesPart = (from: number, to: number) => [
      ...[out + from * width, q + from * qStride, qStride, keys, values, tables],
      ...[first + from * BYTES, counts + from * BYTES, scores, scoreStride, to - from, kvHeads],
    ];
    return {
      work: 2 * FORWARD_COST * heads * headDim * keyCounts(words, counts, n).pairs,
      units: n === 1 ? kvHeads : n,
      part: n === 1 ? headsPart : queriesPart,
      scratch: { parameter: 8, bytes: (heads / kvHeads) * scoreStride },
    };
  };

function attentionCutters(shape: AttentionShape, words: Int32Array): readonly (readonly [string, Cutter])[] {
  return [
    ['attend', attend(shape, words)],
    ['attendBackward', attendBackward(shape, words)],
    ['attendSlotsF32', attendSlots(shape, 'F32', words)],
    ['attendSlotsF16', attendSlots(shape, 'F16', words)],
  ];
}

/** Time per number of kernels that normalize (or of the backward pass of SwiGLU), in multiply-adds of a matrix product. */
const NORM_COST = 8;
/** Time per number of kernels with a sigmoid, in multiply-adds. */
const SIGMOID_COST = 24;
/** Time per number of kernels that only add or rotate, in multiply-adds. */
const SUM_COST = 6;
/** Numbers in a unit of `addInto`. */
const SUM_UNIT = 1024;
/** Multiply-adds of the smallest call that is split: about five microseconds. Handing out parts takes about three. */
const MIN_SHARED_WORK = 2 ** 15;
/** Multiply-adds of the smallest part. */
const MIN_PART_WORK = 2 ** 14;
/** Largest number of parts per thread. With several, an interrupted thread delays only a small part of the call. */
const PARTS_PER_THREAD = 4;

/** A kernel of the module; all parameters are int32. */
export type Kernel = (...parameters: readonly number[]) => void;

function rowCutters(model: ModelConfig): readonly (readonly [string, Cutter])[] {
  const d = model.hidden_size;
  const row = qkvWidth(attentionShape(model));
  return [
    ['rmsNorm', (...parameters) => splitRows(NORM_COST * d, [d * BYTES, BYTES, d * BYTES, 0], parameters)],
    ['normHeads', (...parameters) => splitRows(NORM_COST * row, [row * BYTES, 0, 0], parameters)],
    ['rotate', (...parameters) => splitRows(SUM_COST * row, [row * BYTES, BYTES, 0], parameters)],
    ['swiglu', (...parameters) => splitRows(SIGMOID_COST * parameters[4]!, [1, 1, 2].map((times) => times * parameters[4]! * BYTES), parameters)], // prettier-ignore
    ['swigluBackward', (...parameters) => splitRows(NORM_COST * parameters[5]!, [2, 1, 1, 2].map((times) => times * parameters[5]! * BYTES), parameters)], // prettier-ignore
    ['addInto', addInto],
  ];
}

const addInto: Cutter = (...parameters) => {
  const [y, a, b, size] = parameters as [number, number, number, number];
  const { units, span } = divideIntoUnits(size, SUM_UNIT);
  return {
    work: SUM_COST * size,
    units,
    part: (from, to) => {
      const [start, numbers] = span(from, to);
      return [y + start * BYTES, a + start * BYTES, b + start * BYTES, numbers];
    },
  };
};

/**
 * Returns a function that returns a kernel by its name. If a call can be split and is large enough, the threads of the
 * team share it. The results have the same bits. A parameter that is the address of scratch memory is then replaced by
 * the team's own.
 */
export function threadedKernels(
  model: ModelConfig,
  buffer: ArrayBufferLike,
  kernel: (name: string) => Kernel,
  team: Team,
): (name: string) => Kernel {
  const cutters = new Map([
    ...rowCutters(model),
    ...productCutters,
    ...attentionCutters(attentionShape(model), new Int32Array(buffer)),
  ]);
  return (name) => {
    const wholeKernel = kernel(name);
    const cutter = cutters.get(name);
    const run = cutter && team.minWork !== Infinity ? sharedKernel(name, wholeKernel, cutter, team) : wholeKernel;
    return (...parameters) => {
      if (!team.isRecording) {
        run(...parameters);
        return;
      }
      const scratch = cutter?.(...parameters).scratch;
      const isOwn = scratch && scratch.bytes <= SCRATCH_BYTES;
      team.record(name, isOwn ? parameters.with(scratch.parameter, team.scratchOfPart) : parameters);
    };
  };
}

function sharedKernel(name: string, wholeKernel: Kernel, cutter: Cutter, team: Team): Kernel {
  return (...parameters) => {
    const { work, units, part, scratch = null } = cutter(...parameters);
    const { minWork = MIN_SHARED_WORK } = team;
    // every thread gets the same number of parts
    const partsPerThread = Math.min(PARTS_PER_THREAD, Math.ceil(work / team.count / Math.min(MIN_PART_WORK, minWork)));
    const count = Math.min(units, partsPerThread * team.count, MAX_PARTS);
    if (work < minWork || count < 2 || (scratch && scratch.bytes > SCRATCH_BYTES)) {
      wholeKernel(...parameters);
      return;
    }
    const firstUnit = (i: number) => Math.floor((i * units) / count);
    const parts = Array.from({ length: count }, (_, i) => {
      const partParameters = part(firstUnit(i), firstUnit(i + 1));
      return scratch
        ? partParameters.map((value, at) => (at === scratch.parameter ? team.scratch : value))
        : partParameters;
    });
    team.run(name, parts, scratch);
  };
}
