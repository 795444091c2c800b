import type { ModelConfig } from '../../architecture.ts';
import { attentionShape, qkvWidth } from '../attention.ts';
import { attentionCutters } from './attentionCuts.ts';
import { BYTES, type Cutter, splitRows, divideIntoUnits } from './cut.ts';
import { productCutters } from './productCuts.ts';
import { SCRATCH_BYTES, type Team } from './team.ts';
import { MAX_PARTS } from '../wasm/teamKernels.ts';

/**
 * Time per number of kernels that normalize (or of the backward pass of SwiGLU), in multiply-adds of a matrix product.
 */
const NORM_COST = 8;
/** Time per number of kernels with a sigmoid, in multiply-adds. */
const SIGMOID_COST = 24;
/** Time per number of kernels that only add or rotate, in multiply-adds. */
const SUM_COST = 6;
/** Numbers in a unit of `addInto`. */
const SUM_UNIT = 1024;
/**
 * Multiply-adds of the smallest call that is split (about five microseconds). Handing out parts takes about three
 * microseconds.
 */
const MIN_SHARED_WORK = 2 ** 15;
/** Multiply-adds of the smallest part. */
const MIN_PART_WORK = 2 ** 14;
/** Largest number of parts per thread. With several, an interrupted thread delays only a small part of the call. */
const PARTS_PER_THREAD = 4;

/** A kernel of the module; all parameters are int32. */
export type Kernel = (...parameters: readonly number[]) => void;

/** Returns the cutters of the kernels that loop over rows, by kernel name. */
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
    return cutter ? sharedKernel(name, wholeKernel, cutter, team) : wholeKernel;
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
