import { BLOCK, INTEGERS } from '../wasm/integerBlocks.ts';
import { WIDENED_BYTES } from '../wasm/integerProductsOfMany.ts';
import { type WeightLayout, PANEL_BYTES } from '../wasm/panelKernels.ts';
import { FLOAT_BYTES } from '../wasm/packedKernels.ts';
import { BYTES, type Cutter, unitsOf } from './cut.ts';
import type { Part } from './team.ts';

/** Columns of y that a thread computes at least: a line of the cache, where rows begin with one. */
const COLUMNS = 16;
/** Rows that a product computes together. */
const ROWS = 4;
/** Multiply-adds that rounding one number to 16 bits is as dear as. */
const ROUNDING = 12;

/** Whether y (n,o) is cut into rows, else into columns: what is not cut is read by every thread. */
const byRows = (n: number, o: number) => n > o;
const unitsOfProduct = (n: number, o: number) => (byRows(n, o) ? unitsOf(n, ROWS) : unitsOf(o, COLUMNS));

const matmulNT: Cutter = (...given) => {
  const [y, out, x, w, n, o, k] = given as [number, number, number, number, number, number, number];
  const { units, span } = unitsOfProduct(n, o);
  const part = (from: number, to: number): Part => {
    const [at, some] = span(from, to);
    if (byRows(n, o)) return [y + at * out, out, x + at * k * BYTES, w, some, o, k];
    return [y + at * BYTES, out, x, w + at * k * BYTES, n, some, k];
  };
  return { work: n * o * k, units, part };
};

const matmulAlong: Cutter = (...given) => {
  const [y, out, x, xRow, xStep, w, n, o, k, keep] = given as [
    ...[number, number, number, number, number],
    ...[number, number, number, number, number],
  ];
  const { units, span } = unitsOfProduct(n, o);
  const part = (from: number, to: number): Part => {
    const [at, some] = span(from, to);
    if (byRows(n, o)) return [y + at * out, out, x + at * xRow, xRow, xStep, w, some, o, k, keep];
    return [y + at * BYTES, out, x, xRow, xStep, w + at * BYTES, n, some, k, keep];
  };
  return { work: n * o * k, units, part };
};

/** Columns of the panels that a product goes by; the terms of an output are added alike in panels of every width. */
const PANEL = 12;

/** A product by panels; a thread lays out the panels of the columns it computes. */
const panels =
  (lying: WeightLayout): Cutter =>
  (...given) => {
    const [y, yRow, x, w, wRow, n, o, k, room] = given as [
      ...[number, number, number, number, number],
      ...[number, number, number, number],
    ];
    const { units, span } = unitsOf(o, PANEL);
    const step = lying === 'NT' ? wRow : BYTES;
    const part = (from: number, to: number): Part => {
      const [at, some] = span(from, to);
      return [y + at * BYTES, yRow, x, w + at * step, wRow, n, some, k, room];
    };
    return { work: n * o * k, units, part, scratch: { parameter: 8, bytes: PANEL_BYTES } };
  };

/** A product with weights of which k take `rowBytes(k)`; with `room`, so much scratch memory follows the sizes. */
const packed =
  (rowBytes: (k: number) => number, room: ((k: number) => number) | null): Cutter =>
  (...given) => {
    const [y, stride, x, w, n, o, k] = given as [number, number, number, number, number, number, number];
    const { units, span } = unitsOf(o, COLUMNS);
    const part = (from: number, to: number): Part => {
      const [at, some] = span(from, to);
      return [y + at * BYTES, stride, x, w + at * rowBytes(k), n, some, k, ...given.slice(7)];
    };
    return { work: n * o * k, units, part, scratch: room ? { parameter: 7, bytes: room(k) } : undefined };
  };

const quantize: Cutter = (...given) => {
  const [out, scaleAt, sumAt, x, blocks] = given as [number, number, number, number, number];
  return {
    work: ROUNDING * BLOCK * blocks,
    units: blocks,
    part: (from, to) => [
      out + 2 * BLOCK * from,
      scaleAt + BYTES * from,
      sumAt + BYTES * from,
      x + BYTES * BLOCK * from,
      to - from,
    ],
  };
};

const floats = Object.entries(FLOAT_BYTES).map(([name, bytes]): [string, Cutter] => [
  `product${name}`,
  packed((k) => bytes * k, null),
]);
const integers = Object.entries(INTEGERS).flatMap(([name, { bytes }]): [string, Cutter][] => {
  const rowBytes = (k: number) => (bytes * k) / BLOCK;
  return [
    [`product${name}`, packed(rowBytes, null)],
    [`product${name}OfMany`, packed(rowBytes, (k) => WIDENED_BYTES * k)],
  ];
});

/** How products are cut, by name of kernel. */
export const productCutters: readonly (readonly [string, Cutter])[] = [
  ['matmulNT', matmulNT],
  ['matmulAlong', matmulAlong],
  ['panelsNT', panels('NT')],
  ['panelsNN', panels('NN')],
  ['quantize', quantize],
  ...floats,
  ...integers,
];
