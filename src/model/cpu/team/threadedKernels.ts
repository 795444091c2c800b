import type { ModelConfig } from '../../architecture.ts';
import { attentionShape, qkvWidth, type AttentionShape } from '../../attentionShape.ts';
import { SCRATCH_BYTES, type Scratch, type Team, type TeamInstance } from './team.ts';
import { MAX_PARTS } from '../wasm/teamKernels.ts';
import { slotLayout, type SlotFormat } from '../wasm/slotKernels.ts';
import { BLOCK_SIZE, INTEGER_BLOCKS } from '../wasm/integerBlocks.ts';
import { WIDENED_BYTES } from '../wasm/integerProductsOfMany.ts';
import { type WeightLayout, PANEL_BYTES } from '../wasm/panelKernels.ts';
import { FLOAT_BYTES } from '../wasm/packedKernels.ts';

/*
 * Splits calls of kernels into parts: rows or columns of the output. Every number is then computed by the same
 * operations in the same order, whichever thread computes it.
 */

/** A kernel of the module; all parameters are int32. */
export type Kernel = (...parameters: readonly number[]) => void;

/** The parameters by which calls are split, by the names that routines declare. */
type Call = Readonly<
  Record<
    | ('y' | 'yRow' | 'x' | 'xRow' | 'w' | 'wRow' | 'n' | 'o' | 'k' | 'panel' | 'widened')
    | ('out' | 'scaleAt' | 'sumAt' | 'blocks' | 'a' | 'b' | 'size' | 'scales' | 'positions')
    | ('sigmoid' | 'gateUp' | 'dout' | 'dgateUp' | 'width')
    | ('qkv' | 'keptProbabilities' | 'keys' | 'values' | 'first' | 'counts' | 'scores' | 'scoreStride' | 'kvHeads')
    | ('from' | 'to'),
    number
  >
>;
type Changes = Partial<Call>;

/** A kernel call that can be split between any two of its units, for example rows. */
interface Cut {
  readonly units: number;
  readonly part: (from: number, to: number) => Changes; // the parameters that differ for units [from, to)
}

/** How calls of a kernel are split. */
interface Cutter {
  readonly work: (call: Call) => number; // estimated time of the call, in multiply-adds of a matrix product
  readonly cut: (call: Call) => Cut;
  /** The parameter that is the address of scratch memory, of which each thread needs so many bytes; absent: none. */
  readonly scratch?: { readonly parameter: keyof Call; readonly bytes: (call: Call) => number };
}

const BYTES = 4;

/** Splits the items that `counter` counts. The addresses in `bytes` move by so many bytes an item. The last unit may be smaller. */
function along(call: Call, counter: keyof Call, bytes: Changes, unitItems = 1): Cut {
  const items = call[counter];
  return {
    units: Math.ceil(items / unitItems),
    part: (from, to) => {
      const first = from * unitItems;
      const moved = Object.entries(bytes).map(
        ([name, step]) => [name, call[name as keyof Call] + first * step] as const,
      );
      return { ...Object.fromEntries(moved), [counter]: Math.min(items, to * unitItems) - first };
    },
  };
}

/** Columns of y in a unit: one cache line, if rows begin at a cache line. */
const UNIT_COLUMNS = 16;
/** Rows of y in a unit: as many as a product computes together. */
const UNIT_ROWS = 4;
/** The width doesn't change results: in all panels, the terms of an output are added in the same order. */
const PANEL_COLUMNS = 12;
/** Numbers in a unit of `addInto`. */
const SUM_UNIT = 1024;

/** Time to round one number to 16 bits, in multiply-adds. */
const ROUNDING_COST = 12;
/** Time of one multiply-add of attention's forward pass, in multiply-adds of a matrix product. */
const FORWARD_COST = 2;
/** Time of one multiply-add of attention's backward pass, in multiply-adds of a matrix product. */
const BACKWARD_COST = 3;
/** Time per number of kernels that normalize (or of the backward pass of SwiGLU), in multiply-adds of a matrix product. */
const NORM_COST = 8;
/** Time per number of kernels with a sigmoid, in multiply-adds. */
const SIGMOID_COST = 24;
/** Time per number of kernels that only add or rotate, in multiply-adds. */
const SUM_COST = 6;

/** By rows, otherwise by columns: every thread reads all of the other factor, so the longer side is split. */
const product = (rowBytes: (call: Call) => Changes, columnBytes: (call: Call) => Changes): Cutter => ({
  work: ({ n, o, k }) => n * o * k,
  cut: (call) =>
    call.n > call.o ? along(call, 'n', rowBytes(call), UNIT_ROWS) : along(call, 'o', columnBytes(call), UNIT_COLUMNS),
});

/** Each thread copies the panels of the columns that it computes. */
const panels = (layout: WeightLayout): Cutter => ({
  work: ({ n, o, k }) => n * o * k,
  cut: (call) => along(call, 'o', { y: BYTES, w: layout === 'NT' ? call.wRow : BYTES }, PANEL_COLUMNS),
  scratch: { parameter: 'panel', bytes: () => PANEL_BYTES },
});

/** Rows of k weights have `rowBytes(k)` bytes. */
const packedProduct = (rowBytes: (k: number) => number): Cutter => ({
  work: ({ n, o, k }) => n * o * k,
  cut: (call) => along(call, 'o', { y: BYTES, w: rowBytes(call.k) }, UNIT_COLUMNS),
});

const packedCutters = [
  ...Object.entries(FLOAT_BYTES).map(([name, bytes]) => [`product${name}`, packedProduct((k) => bytes * k)] as const),
  ...Object.entries(INTEGER_BLOCKS).flatMap(([name, { bytes }]) => {
    const cutter = packedProduct((k) => (bytes * k) / BLOCK_SIZE);
    const scratch = { parameter: 'widened', bytes: ({ k }: Call) => WIDENED_BYTES * k } as const;
    return [[`product${name}`, cutter] as const, [`product${name}OfMany`, { ...cutter, scratch }] as const];
  }),
];

/**
 * Splits by rows of `width` numbers, each of which takes as long as `cost` multiply-adds. The addresses in `widths` move
 * by so many widths a row, those of `columns` by one number.
 */
const rows = (cost: number, width: (call: Call) => number, widths: Changes, columns: Changes = {}): Cutter => ({
  work: (call) => cost * width(call) * call.n,
  cut: (call) => {
    const bytes = Object.entries(widths).map(([name, times]) => [name, times * width(call) * BYTES] as const);
    return along(call, 'n', { ...Object.fromEntries(bytes), ...columns });
  },
});

/** Bytes of the scores of one query and one head, and of the vector that is read past their end. */
const scoreBytes = (keyCount: Int32Array) => (keyCount.reduce((most, count) => Math.max(most, count), 0) + 4) * BYTES;

const sum = (counts: Int32Array) => counts.reduce((total, count) => total + count, 0);

/** `words` is the memory. */
function attentionCutters(shape: AttentionShape, words: Int32Array): readonly (readonly [string, Cutter])[] {
  const { heads, kvHeads, headDim } = shape;
  const [width, qkvBytes] = [heads * headDim * BYTES, qkvWidth(shape) * BYTES];
  const keyCounts = ({ counts, n }: Call) => words.subarray(counts / BYTES, counts / BYTES + n);
  const scratch = { parameter: 'scores', bytes: (call: Call) => scoreBytes(keyCounts(call)) } as const;
  const forwardWork = (call: Call) => 2 * FORWARD_COST * heads * headDim * sum(keyCounts(call));
  const queryBytes = { out: width, qkv: qkvBytes, first: BYTES, counts: BYTES };
  const attend: Cutter = {
    work: forwardWork,
    cut: (call) => {
      const { units, part } = along(call, 'n', queryBytes);
      const kept = (from: number) => heads * sum(keyCounts({ ...call, n: from })) * BYTES;
      const { keptProbabilities } = call;
      return {
        units,
        part: (from, to) => ({
          ...part(from, to),
          ...(keptProbabilities !== 0 && { keptProbabilities: keptProbabilities + kept(from) }),
        }),
      };
    },
    scratch,
  };
  // by key heads, because several queries add to the gradient of one key
  const attendBackward: Cutter = {
    work: (call) => 5 * BACKWARD_COST * heads * headDim * sum(keyCounts(call)),
    cut: () => ({
      units: kvHeads,
      part: (from, to) => ({ from: (from * heads) / kvHeads, to: (to * heads) / kvHeads }),
    }),
    scratch,
  };
  // by queries, or by key heads if there is only one query
  const attendSlots = (format: SlotFormat): Cutter => {
    const { headBytes } = slotLayout(shape, format);
    return {
      work: forwardWork,
      cut: (call) => {
        const group = width / call.kvHeads;
        if (call.n > 1) return along(call, 'n', queryBytes);
        return along(call, 'kvHeads', { out: group, qkv: group, keys: headBytes, values: headBytes });
      },
      scratch: { parameter: 'scores', bytes: ({ scoreStride }) => (heads / kvHeads) * scoreStride },
    };
  };
  return [
    ['attend', attend],
    ['attendBackward', attendBackward],
    ['attendSlotsF32', attendSlots('F32')],
    ['attendSlotsF16', attendSlots('F16')],
  ];
}

function cuttersFor(model: ModelConfig, words: Int32Array): ReadonlyMap<string, Cutter> {
  const d = model.hidden_size;
  const row = qkvWidth(attentionShape(model));
  return new Map<string, Cutter>([
    [
      'matmulNT',
      product(
        ({ yRow, k }) => ({ y: yRow, x: k * BYTES }),
        ({ k }) => ({ y: BYTES, w: k * BYTES }),
      ),
    ],
    [
      'matmulAlong',
      product(
        ({ yRow, xRow }) => ({ y: yRow, x: xRow }),
        () => ({ y: BYTES, w: BYTES }),
      ),
    ],
    ['panelsNT', panels('NT')],
    ['panelsNN', panels('NN')],
    ...packedCutters,
    [
      'quantize',
      {
        work: ({ blocks }) => ROUNDING_COST * BLOCK_SIZE * blocks,
        cut: (call) =>
          along(call, 'blocks', { out: 2 * BLOCK_SIZE, scaleAt: BYTES, sumAt: BYTES, x: BYTES * BLOCK_SIZE }),
      },
    ],
    ['rmsNorm', rows(NORM_COST, () => d, { y: 1, x: 1 }, { scales: BYTES })],
    ['normHeads', rows(NORM_COST, () => row, { qkv: 1 })],
    ['rotate', rows(SUM_COST, () => row, { x: 1 }, { positions: BYTES })],
    ['swiglu', rows(SIGMOID_COST, ({ width }) => width, { out: 1, sigmoid: 1, gateUp: 2 })],
    ['swigluBackward', rows(NORM_COST, ({ width }) => width, { dgateUp: 2, dout: 1, sigmoid: 1, gateUp: 2 })],
    [
      'addInto',
      {
        work: ({ size }) => SUM_COST * size,
        cut: (call) => along(call, 'size', { y: BYTES, a: BYTES, b: BYTES }, SUM_UNIT),
      },
    ],
    ...attentionCutters(attentionShape(model), words),
  ]);
}

/** Multiply-adds of the smallest call that is split: about five microseconds. Handing out parts takes about three. */
const MIN_SHARED_WORK = 2 ** 15;
/** Multiply-adds of the smallest part. */
const MIN_PART_WORK = 2 ** 14;
/** Largest number of parts per thread. With several, an interrupted thread delays only a small part of the call. */
const PARTS_PER_THREAD = 4;

/**
 * Returns a function that returns a kernel by its name. If a call can be split and is large enough, the threads of the
 * team share it. The results have the same bits. A parameter that is the address of scratch memory is then replaced by
 * the team's own.
 */
export function threadedKernels(
  model: ModelConfig,
  { memory, kernel, parameters }: TeamInstance,
  team: Team,
): (name: string) => Kernel {
  const cutters = cuttersFor(model, new Int32Array(memory.buffer));
  const { minWork = MIN_SHARED_WORK } = team;
  return (name) => {
    const [wholeKernel, names, cutter] = [kernel(name), parameters.get(name)!, cutters.get(name)];
    const callOf = (values: readonly number[]) => Object.fromEntries(names.map((each, i) => [each, values[i]])) as Call;
    const scratchOf = (values: readonly number[]): Scratch | null => {
      if (!cutter?.scratch) return null;
      const { parameter, bytes } = cutter.scratch;
      return { parameter: names.indexOf(parameter), bytes: bytes(callOf(values)) };
    };
    const share = (cutter: Cutter, values: readonly number[]) => {
      const call = callOf(values);
      const work = cutter.work(call);
      const { units, part } = cutter.cut(call);
      const scratch = scratchOf(values);
      // every thread gets the same number of parts
      const partsPerThread = Math.min(
        PARTS_PER_THREAD,
        Math.ceil(work / team.count / Math.min(MIN_PART_WORK, minWork)),
      );
      const count = Math.min(units, partsPerThread * team.count, MAX_PARTS);
      if (work < minWork || count < 2 || (scratch && scratch.bytes > SCRATCH_BYTES)) {
        wholeKernel(...values);
        return;
      }
      const firstUnit = (i: number) => Math.floor((i * units) / count);
      const parts = Array.from({ length: count }, (_, i) => {
        const changed = { ...call, ...part(firstUnit(i), firstUnit(i + 1)) };
        const partValues = names.map((each) => changed[each as keyof Call]);
        return scratch ? partValues.with(scratch.parameter, team.scratch) : partValues;
      });
      team.run(name, parts, scratch);
    };
    return (...values) => {
      if (team.isRecording) {
        const scratch = scratchOf(values);
        const isOwn = scratch && scratch.bytes <= SCRATCH_BYTES;
        team.record(name, isOwn ? values.with(scratch.parameter, team.scratchOfPart) : values);
      } else if (cutter && minWork !== Infinity) share(cutter, values);
      else wholeKernel(...values);
    };
  };
}
