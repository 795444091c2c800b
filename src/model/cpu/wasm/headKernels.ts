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
import { acrossLanes, exponential } from './sums.ts';

/*
 * A row of logits over a whole vocabulary: log-probabilities, entropy, and the gradient. Sums are of some thousand numbers at a time, so that float32 does not
 * lose by how many words there are. `scalars` is room for what a kernel is told and says, three numbers; its address is a multiple of four.
 */

/** Numbers that are summed before they are added to the rest. */
const CHUNK = 1024;

/** Walks over a row in chunks, each in vectors and a rest one by one; `body` gets the address and how many lanes count. */
function chunks(
  f: Routine,
  row: Integer,
  size: Integer,
  begin: () => void,
  body: (at: Integer, lanes: Lanes) => void,
  end: () => void,
): void {
  f.loop(0, size, CHUNK, (from) => {
    const left = f.let(minus(size, from));
    const first = f.let(plus(row, timesFour(f, from)));
    begin();
    f.blocks(select(less(left, CHUNK), left, CHUNK), [4, 1], (at, lanes) => body(plus(first, at), lanes));
    end();
  });
}

const timesFour = (f: Routine, x: Local<'i32'>) => f.let(plus(plus(x, x), plus(x, x)));

/**
 * z (size) becomes (z − max z)/t, and scalars [t, –] become Σ e and Σ e·z of what z became, e its exponentials: with S and T these, log-probabilities are
 * z − log S and the entropy is log S − T/S.
 */
export const softmaxSums = routine(['z', 'size', 'scalars'], 'softmaxSums', (f, { z, size, scalars }) => {
  const most = f.let(constant(-Infinity));
  f.blocks(size, [4, 1], (at, lanes) => {
    f.set(most, max(most, lanes === 4 ? load(plus(z, at)) : loadSplat(plus(z, at))));
  });
  const largest = acrossLanes(f, most, max);
  const temperature = f.let(loadSplat(scalars));
  const sums = [f.let(constant(0)), f.let(constant(0))] as const;
  const some = [f.let(constant(0)), f.let(constant(0))] as const;
  chunks(
    f,
    z,
    size,
    () => some.forEach((part) => f.set(part, constant(0))),
    (at, lanes) => {
      const x = f.let(div(sub(load(at, lanes), largest), temperature));
      f.store(at, x, lanes);
      // lanes beyond a rest hold −max z, and count for nothing
      const e = exponential(f, x);
      const counted = lanes === 4 ? e : f.let(and(e, integerLanes(-1, 0, 0, 0)));
      f.set(some[0], add(some[0], counted));
      f.set(some[1], add(some[1], mul(counted, x)));
    },
    () => some.forEach((part, i) => f.set(sums[i]!, add(sums[i]!, part))),
  );
  f.store(scalars, acrossLanes(f, sums[0], add), 1);
  f.store(scalars, acrossLanes(f, sums[1], add), 1, 4);
});

/** z (size) −= scalars[0]. */
export const lowered = routine(['z', 'size', 'scalars'], 'lowered', (f, { z, size, scalars }) => {
  const by = f.let(loadSplat(scalars));
  f.blocks(size, [4, 1], (at, lanes) => f.store(plus(z, at), sub(load(plus(z, at), lanes), by), lanes));
});

/** Log-probabilities l (size) become −p·(g + e·(l + H)), p their exponentials; scalars [g, e, H]. */
export const logitGradients = routine(['l', 'size', 'scalars'], 'logitGradients', (f, { l, size, scalars }) => {
  const [g, e, entropy] = [0, 4, 8].map((offset) => f.let(loadSplat(scalars, offset)));
  f.blocks(size, [4, 1], (at, lanes) => {
    const x = f.let(load(plus(l, at), lanes));
    const pull = add(g!, mul(e!, add(x, entropy!)));
    f.store(plus(l, at), sub(constant(0), mul(exponential(f, x), pull)), lanes);
  });
});
