import { constant, div, load, loadSplat, max, plus, sub } from './instructions.ts';
import { routine } from './routine.ts';
import { combineLanes, exponential } from './sums.ts';

/** Computes e (size) = exp((z − max z)/t). `scalars` is [–, t] before and [max z, t] after. */
export const exponentials = routine(['e', 'z', 'scalars', 'size'], 'exponentials', (f, { e, z, scalars, size }) => {
  const maxima = f.let(constant(-Infinity));
  // a vector past the end would include numbers behind z. So the last numbers are loaded one by one, into all lanes
  f.blocks(size, [4, 1], (at, lanes) => {
    f.set(maxima, max(maxima, lanes === 4 ? load(plus(z, at)) : loadSplat(plus(z, at))));
  });
  const largest = combineLanes(f, maxima, max);
  f.store(scalars, largest, 1);
  const temperature = f.let(loadSplat(plus(scalars, 4)));
  f.blocks(size, [4, 1], (at, lanes) => {
    f.store(plus(e, at), exponential(f, div(sub(load(plus(z, at), lanes), largest), temperature)), lanes);
  });
});
