import type { ModelConfig } from '../../architecture.ts';
import { attentionShape, qkvWidth } from '../attention.ts';
import { attentionCutters } from './attentionCuts.ts';
import { BYTES, type Cutter, rows, unitsOf } from './cut.ts';
import { productCutters } from './productCuts.ts';
import { SCRATCH_BYTES, type Team } from './team.ts';
import { MOST_PARTS } from '../wasm/teamKernels.ts';

/** How many multiply-adds of a product one number of these kernels is as dear as. */
const NORM = 8;
const SIGMOID = 24;
const SUM = 6;
/** Numbers of a sum that stay together. */
const SOME = 1024;
/** Multiply-adds below which a call is not cut, some five microseconds: handing out parts costs about three. And of a part at least. */
const LEAST_WORK = 2 ** 15;
const LEAST_PART = 2 ** 14;
/** Parts for each thread: what one that is interrupted has taken is a small part of the whole. */
const PARTS = 4;

/** A kernel as it is called. */
export type Kernel = (...parameters: readonly number[]) => void;

/** How kernels that go over rows are cut, by name. */
function rowCutters(model: ModelConfig): readonly (readonly [string, Cutter])[] {
  const d = model.hidden_size;
  const row = qkvWidth(attentionShape(model));
  return [
    ['rmsNorm', (...given) => rows(NORM * d, [d * BYTES, BYTES, d * BYTES, 0], given)],
    ['normHeads', (...given) => rows(NORM * row, [row * BYTES, 0, 0], given)],
    ['rotate', (...given) => rows(SUM * row, [row * BYTES, BYTES, 0], given)],
    ['swiglu', (...given) => rows(SIGMOID * given[4]!, [1, 1, 2].map((times) => times * given[4]! * BYTES), given)], // prettier-ignore
    ['swigluBackward', (...given) => rows(NORM * given[5]!, [2, 1, 1, 2].map((times) => times * given[5]! * BYTES), given)], // prettier-ignore
    ['addInto', addInto],
  ];
}

const addInto: Cutter = (...given) => {
  const [y, a, b, size] = given as [number, number, number, number];
  const { units, span } = unitsOf(size, SOME);
  return {
    work: SUM * size,
    units,
    part: (from, to) => {
      const [at, some] = span(from, to);
      return [y + at * BYTES, a + at * BYTES, b + at * BYTES, some];
    },
  };
};

/**
 * Kernels of a model whose calls a team shares, by name, those that can be cut and are worth it: the same bits, whoever computes them. A parameter that is an
 * address of scratch memory is one of the team's then.
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
    const whole = kernel(name);
    const cutter = cutters.get(name);
    return cutter ? shared(name, whole, cutter, team) : whole;
  };
}

function shared(name: string, whole: Kernel, cutter: Cutter, team: Team): Kernel {
  return (...given) => {
    const { work, units, part, scratch = null } = cutter(...given);
    const { least = LEAST_WORK } = team;
    // as many for each thread
    const each = Math.min(PARTS, Math.ceil(work / team.count / Math.min(LEAST_PART, least)));
    const count = Math.min(units, each * team.count, MOST_PARTS);
    if (work < least || count < 2 || (scratch && scratch.bytes > SCRATCH_BYTES)) {
      whole(...given);
      return;
    }
    const begin = (i: number) => Math.floor((i * units) / count);
    const parts = Array.from({ length: count }, (_, i) => {
      const own = part(begin(i), begin(i + 1));
      return scratch ? own.map((value, at) => (at === scratch.parameter ? team.scratch : value)) : own;
    });
    team.run(name, parts, scratch);
  };
}
