import { constant, div, load, loadSplat, max, plus, sub } from './instructions.ts';
import { routine } from './routine.ts';
import { acrossLanes, exponential } from './sums.ts';

/**
 * e (size) = exp((z − max z)/t), `scalars` holding max z, which is written there, and then t.
 */
export const exponentials = routine(['e', 'z', 'scalars', 'size'], 'exponentials', (f, { e, z, scalars, size }) => {
  const most = f.let(constant(-Infinity));
  // a vector that reaches over the end would count what lies there; so the rest goes one by one, its other lanes a number of z
  f.blocks(size, [4, 1], (at, lanes) => {
    f.set(most, max(most, lanes === 4 ? load(plus(z, at)) : loadSplat(plus(z, at))));
  });
  const largest = acrossLanes(f, most, max);
  f.store(scalars, largest, 1);
  const temperature = f.let(loadSplat(plus(scalars, 4)));
  f.blocks(size, [4, 1], (at, lanes) => {
    f.store(plus(e, at), exponential(f, div(sub(load(plus(z, at), lanes), largest), temperature)), lanes);
  });
});
