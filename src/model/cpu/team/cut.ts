import type { Part, Scratch } from './team.ts';

/*
 * Where calls of kernels may be cut: into rows or columns of what they write, so that every number is computed by the same operations in the same
 * order whoever computes it.
 */

/** A call of a kernel that may be cut anywhere between its `units`. */
export interface Cut {
  readonly work: number; // about as long as so many multiply-adds of a product take
  readonly units: number;
  readonly part: (from: number, to: number) => Part;
  readonly scratch?: Scratch | undefined;
}

/** Of a kernel's parameters how its call may be cut. */
export type Cutter = (...parameters: readonly number[]) => Cut;

/** Bytes of a number. */
export const BYTES = 4;

/** Units of `size` out of `count`, the last one smaller: how many, and where those from one to another begin, and how many of the count they are. */
export const unitsOf = (count: number, size: number) => ({
  units: Math.ceil(count / size),
  span: (from: number, to: number) => [from * size, Math.min(count, to * size) - from * size] as const,
});

/**
 * A kernel that goes over rows: its first parameters move by `steps` bytes from one to the next, then follows how many there are, then what is the
 * same for all. `work` is that of a row.
 */
export function rows(work: number, steps: readonly number[], given: readonly number[]): Cut {
  const n = given[steps.length]!;
  const rest = given.slice(steps.length + 1);
  return {
    work: work * n,
    units: n,
    part: (from, to) => [...steps.map((step, i) => given[i]! + step * from), to - from, ...rest],
  };
}
