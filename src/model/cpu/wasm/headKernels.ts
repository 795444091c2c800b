import {
  add,
  and,
  andNot,
  constant,
  div,
  integerLanes,
  less,
  lessFloats,
  lessIntegers,
  load,
  loadByte,
  loadInteger,
  loadSplat,
  max,
  minus,
  mul,
  or,
  plus,
  quotient,
  select,
  splatInteger,
  sub,
  times,
  type Integer,
  type Lanes,
} from './instructions.ts';
import { routine, type Routine } from './routine.ts';
import { ILLEGAL_LOGPROB } from '../../learning/logSoftmaxRow.ts';
import { combineLanes, exponential } from './sums.ts';

/*
 * Kernels for rows of logits over a whole vocabulary: log-probabilities, entropy, and the gradient. They sum about a
 * thousand numbers at a time, so that float32 loses no precision with a large vocabulary.
 */

/** Bytes of a grammar state's mask: one for each whole vector of tokens, whose lowest four bits say which are legal, then one for each token left. */
export const maskBytes = (vocabulary: number) => Math.floor(vocabulary / 4) + (vocabulary % 4);

/** Returns byte and bit of a token in a state's mask. */
export function maskBit(vocabulary: number, token: number): readonly [byte: number, bit: number] {
  const inVectors = vocabulary - (vocabulary % 4);
  return token < inVectors ? [token >> 2, token & 3] : [(inVectors >> 2) + token - inVectors, 0];
}

/** A number below this belongs to an illegal token. It isn't `ILLEGAL_LOGPROB`, because float32 rounds −1e30. */
export const HIGHEST_ILLEGAL = ILLEGAL_LOGPROB / 2;

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
    const first = f.let(plus(row, times(from, 4)));
    beforeChunk();
    f.blocks(select(less(remaining, CHUNK), remaining, CHUNK), [4, 1], (at, lanes) => body(plus(first, at), lanes));
    afterChunk();
  });
}

/**
 * Replaces the n rows of logits z (n,v) by z/t − max z/t, and writes S = Σ exp z and T = Σ exp(z)·z of the new z to
 * `sums` (n,2). The log-probabilities are then z − log S, and the entropy is log S − T/S. With `isMasked`, the mask of
 * row i is number states[i] of `masks`; illegal tokens get ILLEGAL_LOGPROB and don't count.
 */
export const softmaxRows = (isMasked: boolean) =>
  routine(
    ['z', 'sums', 'temperature', 'n', 'v', 'masks', 'states'],
    isMasked ? 'softmaxRowsMasked' : 'softmaxRows',
    (f, { z, sums, temperature, n, v, masks, states }) => {
      const t = f.let(loadSplat(temperature));
      const maskSize = f.let(plus(quotient(v, 4), minus(v, times(quotient(v, 4), 4))));
      f.loop(0, n, 1, (i) => {
        const mask = f.let(plus(masks, times(isMasked ? loadInteger(plus(states, times(i, 4))) : 0, maskSize)));
        const maxima = f.let(constant(-Infinity));
        f.blocks(v, [4, 1], (at, lanes) => {
          const tempered = f.let(div(lanes === 4 ? load(plus(z, at)) : loadSplat(plus(z, at)), t));
          if (isMasked) {
            const ofLanes = lanes === 4 ? integerLanes(1, 2, 4, 8) : integerLanes(1, 1, 1, 1);
            const bits = f.let(and(splatInteger(loadByte(mask)), ofLanes));
            const legal = lessIntegers(integerLanes(0, 0, 0, 0), bits);
            f.set(tempered, or(and(tempered, legal), andNot(constant(ILLEGAL_LOGPROB), legal)));
            f.set(mask, plus(mask, 1));
          }
          f.store(plus(z, at), tempered, lanes);
          f.set(maxima, max(maxima, tempered));
        });
        const largest = combineLanes(f, maxima, max);
        const totals = [f.let(constant(0)), f.let(constant(0))] as const;
        const chunkSums = [f.let(constant(0)), f.let(constant(0))] as const;
        loopInChunks(
          f,
          z,
          v,
          () => chunkSums.forEach((part) => f.set(part, constant(0))),
          (at, lanes) => {
            const x = f.let(sub(load(at, lanes), largest));
            f.store(at, x, lanes);
            const e = exponential(f, x);
            // the unused lanes of a single number hold −max and must not count
            if (lanes === 1) f.set(e, and(e, integerLanes(-1, 0, 0, 0)));
            if (isMasked) f.set(e, andNot(e, lessFloats(x, constant(HIGHEST_ILLEGAL))));
            f.set(chunkSums[0], add(chunkSums[0], e));
            f.set(chunkSums[1], add(chunkSums[1], mul(e, x)));
          },
          () => chunkSums.forEach((part, s) => f.set(totals[s]!, add(totals[s]!, part))),
        );
        f.store(sums, combineLanes(f, totals[0], add), 1);
        f.store(sums, combineLanes(f, totals[1], add), 1, 4);
        f.set(sums, plus(sums, 8));
        f.set(z, plus(z, times(v, 4)));
      });
    },
  );

/**
 * Replaces the rows that `softmaxRows` left by the gradients of the logits: z by −exp(z)·p·(g + e·(z + c)), and adds g
 * at the row's token. `factors` (n,4) is [p, g, e, c]; `tokens` (n) may be −1: then g isn't added. Illegal tokens get 0.
 */
export const gradientRows = routine(
  ['z', 'factors', 'tokens', 'n', 'v'],
  'gradientRows',
  (f, { z, factors, tokens, n, v }) => {
    f.loop(0, n, 1, (i) => {
      const [p, g, e, c] = [0, 4, 8, 12].map((offset) => f.let(loadSplat(factors, offset)));
      f.blocks(v, [4, 1], (at, lanes) => {
        const x = f.let(load(plus(z, at), lanes));
        const slope = add(g!, mul(e!, add(x, c!)));
        const gradient = mul(mul(exponential(f, x), p!), slope);
        f.store(plus(z, at), andNot(sub(constant(0), gradient), lessFloats(x, constant(HIGHEST_ILLEGAL))), lanes);
      });
      const token = f.let(loadInteger(plus(tokens, times(i, 4))));
      f.when(less(-1, token), () => {
        const at = f.let(plus(z, times(token, 4)));
        f.store(at, add(load(at, 1), g!), 1);
      });
      f.set(factors, plus(factors, 16));
      f.set(z, plus(z, times(v, 4)));
    });
  },
);
