import { BLOCK_SIZE, INTEGERS } from '../wasm/integerBlocks.ts';
import { WIDENED_BYTES } from '../wasm/integerProductsOfMany.ts';
import { type WeightLayout, PANEL_BYTES } from '../wasm/panelKernels.ts';
import { FLOAT_BYTES } from '../wasm/packedKernels.ts';
import { BYTES, type Cutter, unitsOf } from './cut.ts';
import type { Part } from './team.ts';

/** Columns of y in a unit: one cache line, if rows begin at a cache line. */
const UNIT_COLUMNS = 16;
/** Rows of y in a unit: as many as a product computes together. */
const UNIT_ROWS = 4;
/** Time to round one number to 16 bits, in multiply-adds. */
const ROUNDING_COST = 12;

/**
 * Whether y (n,o) is split by rows, otherwise by columns. Every thread reads all of the other factor, so the longer
 * side is split.
 */
const byRows = (n: number, o: number) => n > o;
const unitsOfProduct = (n: number, o: number) => (byRows(n, o) ? unitsOf(n, UNIT_ROWS) : unitsOf(o, UNIT_COLUMNS));

const matmulNT: Cutter = (...parameters) => {
  const [y, out, x, w, n, o, k] = parameters as [number, number, number, number, number, number, number];
  const { units, span } = unitsOfProduct(n, o);
  const part = (from: number, to: number): Part => {
    const [at, count] = span(from, to);
    if (byRows(n, o)) return [y + at * out, out, x + at * k * BYTES, w, count, o, k];
    return [y + at * BYTES, out, x, w + at * k * BYTES, n, count, k];
  };
  return { work: n * o * k, units, part };
};

const matmulAlong: Cutter = (...parameters) => {
  const [y, out, x, xRow, xStep, w, n, o, k, keep] = parameters as [
    ...[number, number, number, number, number],
    ...[number, number, number, number, number],
  ];
  const { units, span } = unitsOfProduct(n, o);
  const part = (from: number, to: number): Part => {
    const [at, count] = span(from, to);
    if (byRows(n, o)) return [y + at * out, out, x + at * xRow, xRow, xStep, w, count, o, k, keep];
    return [y + at * BYTES, out, x, xRow, xStep, w + at * BYTES, n, count, k, keep];
  };
  return { work: n * o * k, units, part };
};

/**
 * Columns of a panel. Its width doesn't change results: in all panels, the terms of an output are added in the same
 * order.
 */
const PANEL_COLUMNS = 12;

/** Splits a product by panels. Each thread copies the panels of the columns that it computes. */
const panels =
  (layout: WeightLayout): Cutter =>
  (...parameters) => {
    const [y, yRow, x, w, wRow, n, o, k, panel] = parameters as [
      ...[number, number, number, number, number],
      ...[number, number, number, number],
    ];
    const { units, span } = unitsOf(o, PANEL_COLUMNS);
    const step = layout === 'NT' ? wRow : BYTES;
    const part = (from: number, to: number): Part => {
      const [at, count] = span(from, to);
      return [y + at * BYTES, yRow, x, w + at * step, wRow, n, count, k, panel];
    };
    return { work: n * o * k, units, part, scratch: { parameter: 8, bytes: PANEL_BYTES } };
  };

/**
 * Splits a product with packed weights, whose rows of k weights have `rowBytes(k)` bytes. If `scratchBytes` is given,
 * the parameter after the sizes is the address of `scratchBytes(k)` bytes of scratch memory.
 */
const packed =
  (rowBytes: (k: number) => number, scratchBytes: ((k: number) => number) | null): Cutter =>
  (...parameters) => {
    const [y, stride, x, w, n, o, k] = parameters as [number, number, number, number, number, number, number];
    const { units, span } = unitsOf(o, UNIT_COLUMNS);
    const part = (from: number, to: number): Part => {
      const [at, count] = span(from, to);
      return [y + at * BYTES, stride, x, w + at * rowBytes(k), n, count, k, ...parameters.slice(7)];
    };
    return {
      work: n * o * k,
      units,
      part,
      scratch: scratchBytes ? { parameter: 7, bytes: scratchBytes(k) } : undefined,
    };
  };

const quantize: Cutter = (...parameters) => {
  const [out, scaleAt, sumAt, x, blocks] = parameters as [number, number, number, number, number];
  return {
    work: ROUNDING_COST * BLOCK_SIZE * blocks,
    units: blocks,
    part: (from, to) => [
      out + 2 * BLOCK_SIZE * from,
      scaleAt + BYTES * from,
      sumAt + BYTES * from,
      x + BYTES * BLOCK_SIZE * from,
      to - from,
    ],
  };
};

const floats = Object.entries(FLOAT_BYTES).map(([name, bytes]): [string, Cutter] => [
  `product${name}`,
  packed((k) => bytes * k, null),
]);
const integers = Object.entries(INTEGERS).flatMap(([name, { bytes }]): [string, Cutter][] => {
  const rowBytes = (k: number) => (bytes * k) / BLOCK_SIZE;
  return [
    [`product${name}`, packed(rowBytes, null)],
    [`product${name}OfMany`, packed(rowBytes, (k) => WIDENED_BYTES * k)],
  ];
});

/** The cutters of the product kernels, by kernel name. */
export const productCutters: readonly (readonly [string, Cutter])[] = [
  ['matmulNT', matmulNT],
  ['matmulAlong', matmulAlong],
  ['panelsNT', panels('NT')],
  ['panelsNN', panels('NN')],
  ['quantize', quantize],
  ...floats,
  ...integers,
];
