import { ceilDiv, foldedGrid, type Dims } from '../kernel.ts';

/** The dimension of this name, or 1 if the kernel has none. */
export const dimOf = (dims: Dims, name: string) => dims[name] ?? 1;
/** A cost that is a product of dimensions: `timesDims(4, 'N C')` is 4·N·C. */
export const timesDims = (factor: number, names: string) => (dims: Dims) =>
  names.split(' ').reduce((product, name) => product * dimOf(dims, name), factor);

/** With `trafficBytes({ x: 'N C', dx: '2 N C' })` each scalar of x moves once, of dx twice. `size` gives the bytes of a scalar. */
export const trafficBytes =
  (scalars: Readonly<Record<string, string>>) => (dims: Dims, size: (binding: string) => number) =>
    Object.entries(scalars).reduce((sum, [binding, product]) => {
      const [, factor = '1', names = ''] = /^(\d*) ?(.*)$/.exec(product) ?? [];
      return sum + timesDims(Number(factor || 1) * size(binding), names)(dims);
    }, 0);

/** One thread per column (x) and row (y), in workgroups of 16×4. Past 16,383 workgroups, that is 65,532 rows, z continues y. */
export const planeGrid =
  (columns: string, rows: string) =>
  (dims: Dims): [number, number, number] => {
    const workgroupRows = ceilDiv(dimOf(dims, rows), 4);
    return [ceilDiv(dimOf(dims, columns), 16), Math.min(workgroupRows, 16383), ceilDiv(workgroupRows, 16383)];
  };
/** A grid with one thread per item, in workgroups of `size`. */
export const lineGrid =
  (names: string, size = 64) =>
  (dims: Dims): [number, number] =>
    foldedGrid(ceilDiv(timesDims(1, names)(dims), size));
/** A grid with one thread per column (x, in workgroups of 64), one workgroup per row (y) and one per part (z). */
export const columnGrid =
  (columns: string, rows: string) =>
  (dims: Dims): [number, number, number] => [
    ceilDiv(dimOf(dims, columns), 64),
    dimOf(dims, rows),
    dimOf(dims, 'parts'),
  ];
