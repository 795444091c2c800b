import {
  add,
  and,
  constant,
  div,
  integerLanes,
  less,
  load,
  loadSplat,
  max,
  minus,
  mul,
  plus,
  select,
  sub,
  type Integer,
  type Lanes,
  type Local,
} from './instructions.ts';
import { routine, type Routine } from './routine.ts';
import { combineLanes, exponential } from './sums.ts';

/*
 * Kernels for a row of logits over a whole vocabulary: log-probabilities, entropy, and the gradient. They sum about a
 * thousand numbers at a time, so that float32 loses no precision with a large vocabulary. `scalars` is an array of
 * three numbers, for parameters and results. Its address is a multiple of four.
 */

/** Number of terms that are summed before their sum is added to the total. */
const CHUNK = 1024;

/** `body` gets the address of each vector, or of each single number at the end, and its number of lanes. */
function loopInChunks(
  f: Routine,
  row: Integer,
  size: Integer,
  beforeChunk: () => void,
  body: (at: Integer, lanes: Lanes) => void,
  afterChunk: () => void,
): void {
  f.loop(0, size, CHUNK, (from) => {
    const remaining = f.let(minus(size, from));
    const first = f.let(plus(row, timesFour(f, from)));
    beforeChunk();
    f.blocks(select(less(remaining, CHUNK), remaining, CHUNK), [4, 1], (at, lanes) => body(plus(first, at), lanes));
    afterChunk();
  });
}

const timesFour = (f: Routine, x: Local<'i32'>) => f.let(plus(plus(x, x), plus(x, x)));

/**
 * Replaces z (size) by z' = (z − max z)/t. `scalars` is [t, –] before and [S, T] after, with the temperature t,
 * S = Σ exp z' and T = Σ exp(z')·z'. The log-probabilities are then z' − log S, and the entropy is log S − T/S.
 */
export const softmaxSums = routine(['z', 'size', 'scalars'], 'softmaxSums', (f, { z, size, scalars }) => {
  const maxima = f.let(constant(-Infinity));
  f.blocks(size, [4, 1], (at, lanes) => {
    f.set(maxima, max(maxima, lanes === 4 ? load(plus(z, at)) : loadSplat(plus(z, at))));
  });
  const largest = combineLanes(f, maxima, max);
  const temperature = f.let(loadSplat(scalars));
  const sums = [f.let(constant(0)), f.let(constant(0))] as const;
  const chunkSums = [f.let(constant(0)), f.let(constant(0))] as const;
  loopInChunks(
    f,
    z,
    size,
    () => chunkSums.forEach((part) => f.set(part, constant(0))),
    (at, lanes) => {
      const x = f.let(div(sub(load(at, lanes), largest), temperature));
      f.store(at, x, lanes);
      // the unused lanes of a single number hold −max z/t and must not count
      const e = exponential(f, x);
      const counted = lanes === 4 ? e : f.let(and(e, integerLanes(-1, 0, 0, 0)));
      f.set(chunkSums[0], add(chunkSums[0], counted));
      f.set(chunkSums[1], add(chunkSums[1], mul(counted, x)));
    },
    () => chunkSums.forEach((part, i) => f.set(sums[i]!, add(sums[i]!, part))),
  );
  f.store(scalars, combineLanes(f, sums[0], add), 1);
  f.store(scalars, combineLanes(f, sums[1], add), 1, 4);
});

/** Subtracts scalars[0] from each number of z (size). */
export const subtractScalar = routine(['z', 'size', 'scalars'], 'subtractScalar', (f, { z, size, scalars }) => {
  const subtrahend = f.let(loadSplat(scalars));
  f.blocks(size, [4, 1], (at, lanes) => f.store(plus(z, at), sub(load(plus(z, at), lanes), subtrahend), lanes));
});

/** Replaces log-probabilities l (size) by −p·(g + e·(l + H)), with p = exp(l). `scalars` is [g, e, H]. */
export const logitGradients = routine(['l', 'size', 'scalars'], 'logitGradients', (f, { l, size, scalars }) => {
  const [g, e, entropy] = [0, 4, 8].map((offset) => f.let(loadSplat(scalars, offset)));
  f.blocks(size, [4, 1], (at, lanes) => {
    const x = f.let(load(plus(l, at), lanes));
    const slope = add(g!, mul(e!, add(x, entropy!)));
    f.store(plus(l, at), sub(constant(0), mul(exponential(f, x), slope)), lanes);
  });
});
