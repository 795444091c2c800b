import type { Part, Scratch } from './team.ts';

/*
 * Splits calls of kernels into parts: rows or columns of the output. Every number is then computed by the same
 * operations in the same order, whichever thread computes it.
 */

/** A kernel call that can be split between any two of its units, for example rows. */
export interface Cut {
  readonly work: number; // estimated time of the call, in multiply-adds of a matrix product
  readonly units: number;
  readonly part: (from: number, to: number) => Part; // the parameters that compute units [from, to)
  readonly scratch?: Scratch | undefined;
}

export type Cutter = (...parameters: readonly number[]) => Cut;

export const BYTES = 4;

/** The last unit may be smaller. `span` returns the first item and the number of items of the units [from, to). */
export const divideIntoUnits = (count: number, size: number) => ({
  units: Math.ceil(count / size),
  span: (from: number, to: number) => [from * size, Math.min(count, to * size) - from * size] as const,
});

/** Parameters of the kernel: addresses, which move by `rowBytes` per row; the number of rows; some that are the same for all rows. */
export function splitRows(rowWork: number, rowBytes: readonly number[], parameters: readonly number[]): Cut {
  const n = parameters[rowBytes.length]!;
  const constantParameters = parameters.slice(rowBytes.length + 1);
  return {
    work: rowWork * n,
    units: n,
    part: (from, to) => [
      ...rowBytes.map((bytes, i) => parameters[i]! + bytes * from),
      to - from,
      ...constantParameters,
    ],
  };
}
