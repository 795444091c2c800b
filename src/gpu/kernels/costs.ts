import { ceilDiv, folded, type Dims } from '../kernel.ts';

/** A size by its name; 1 where a kernel has no such dim. */
export const get = (dims: Dims, name: string) => dims[name] ?? 1;
/** Cost models read their dims by position in the name string: `each(4, 'N C')` is 4·N·C. */
export const each = (factor: number, names: string) => (dims: Dims) =>
  names.split(' ').reduce((product, name) => product * get(dims, name), factor);

/** Bytes of scalars that move, by binding: `traffic({ x: 'N C', dx: '2 N C' })` reads x once and touches dx twice. */
export const traffic = (scalars: Readonly<Record<string, string>>) => (dims: Dims, size: (binding: string) => number) =>
  Object.entries(scalars).reduce((sum, [binding, product]) => {
    const [, factor = '1', names = ''] = /^(\d*) ?(.*)$/.exec(product) ?? [];
    return sum + each(Number(factor || 1) * size(binding), names)(dims);
  }, 0);

/** A grid of 16×4 threads over columns and rows; z continues the rows past 65,533 workgroups. */
export const plane =
  (columns: string, rows: string) =>
  (dims: Dims): [number, number, number] => {
    const groups = ceilDiv(get(dims, rows), 4);
    return [ceilDiv(get(dims, columns), 16), Math.min(groups, 16383), ceilDiv(groups, 16383)];
  };
/** One thread per item, `size` a workgroup. */
export const line =
  (names: string, size = 64) =>
  (dims: Dims): [number, number] =>
    folded(ceilDiv(each(1, names)(dims), size));
/** A column a thread, a row of workgroups for each row, a layer for each of `parts`. */
export const perColumn =
  (columns: string, rows: string) =>
  (dims: Dims): [number, number, number] => [ceilDiv(get(dims, columns), 64), get(dims, rows), get(dims, 'parts')];
