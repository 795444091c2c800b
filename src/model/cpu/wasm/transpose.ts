import { shuffle, type Vector } from './instructions.ts';
import type { Routine } from './routine.ts';

/** Transposes a matrix of four vectors: vector r of the result holds lane r of each. */
export function transpose(f: Routine, vectors: readonly Vector[]): Vector[] {
  const [a, b, c, d] = vectors as readonly [Vector, Vector, Vector, Vector];
  const [ab, cd] = [f.let(shuffle(a, b, [0, 4, 1, 5])), f.let(shuffle(c, d, [0, 4, 1, 5]))];
  const [abHigh, cdHigh] = [f.let(shuffle(a, b, [2, 6, 3, 7])), f.let(shuffle(c, d, [2, 6, 3, 7]))];
  return [
    shuffle(ab, cd, [0, 1, 4, 5]),
    shuffle(ab, cd, [2, 3, 6, 7]),
    shuffle(abHigh, cdHigh, [0, 1, 4, 5]),
    shuffle(abHigh, cdHigh, [2, 3, 6, 7]),
  ];
}
