import { BLOCK_SIZE, INTEGER_BLOCKS } from '../wasm/integerBlocks.ts';
import { WIDENED_BYTES } from '../wasm/integerProductsOfMany.ts';
import { type WeightLayout, PANEL_BYTES } from '../wasm/panelKernels.ts';
import { FLOAT_BYTES } from '../wasm/packedKernels.ts';
import { BYTES, type Cutter, divideIntoUnits } from './cut.ts';
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
const splitsByRows = (n: number, o: number) => n > o;
const unitsOfProduct = (n: number, o: number) =>
  splitsByRows(n, o) ? divideIntoUnits(n, UNIT_ROWS) : divideIntoUnits(o, UNIT_COLUMNS);

const matmulNT: Cutter = (...parameters) => {
  const [y, yRow, x, w, n, o, k] = parameters as [number, number, number, number, number, number, number];
  const { units, span } = unitsOfProduct(n, o);
  const part = (from: number, to: number): Part => {
    const [start, count] = span(from, to);
    if (splitsByRows(n, o)) return [y + start * yRow, yRow, x + start * k * BYTES, w, count, o, k];
    return [y + start * BYTES, yRow, x, w + start * k * BYTES, n, count, k];
  };
  return { work: n * o * k, units, part };
};

const matmulAlong: Cutter = (...parameters) => {
  const [y, yRow, x, xRow, xStep, w, n, o, k, accumulate] = parameters as [
    ...[number, number, number, number, number],
    ...[number, number, number, number, number],
  ];
  const { units, span } = unitsOfProduct(n, o);
  const part = (from: number, to: number): Part => {
    const [start, count] = span(from, to);
    if (splitsByRows(n, o)) return [y + start * yRow, yRow, x + start * xRow, xRow, xStep, w, count, o, k, accumulate];
    return [y + start * BYTES, yRow, x, xRow, xStep, w + start * BYTES, n, count, k, accumulate];
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
    const { units, span } = divideIntoUnits(o, PANEL_COLUMNS);
    const step = layout === 'NT' ? wRow : BYTES;
    const part = (from: number, to: number): Part => {
      const [start, count] = span(from, to);
      return [y + start * BYTES, yRow, x, w + start * step, wRow, n, count, k, panel];
    };
    return { work: n * o * k, units, part, scratch: { parameter: 8, bytes: PANEL_BYTES } };
  };

/**
 * Splits a product with packed weights, whose rows of k weights have `rowBytes(k)` bytes. If `scratchBytes` is given,
 * the parameter after the sizes is the address of `scratchBytes(k)` bytes of scratch memory.
 */
const packedProduct =
  (rowBytes: (k: number) => number, scratchBytes: ((k: number) => number) | null): Cutter =>
  (...parameters) => {
    const [y, yRow, x, w, n, o, k] = parameters as [number, number, number, number, number, number, number];
    const { units, span } = divideIntoUnits(o, UNIT_COLUMNS);
    const part = (from: number, to: number): Part => {
      const [start, count] = span(from, to);
      return [y + start * BYTES, yRow, x, w + start * rowBytes(k), n, count, k, ...parameters.slice(7)];
    };
    return {
      work: n * o * k,
      units,
      part,
      scratch: scratchBytes ? { parameter: 7, bytes: scratchBytes(k) } : undefined,
    };
  };

const quantize: Cutter = (...parameters) => {
  const [yRow, scaleAt, sumAt, x, blocks] = parameters as [number, number, number, number, number];
  return {
    work: ROUNDING_COST * BLOCK_SIZE * blocks,
    units: blocks,
    part: (from, to) => [
      yRow + 2 * BLOCK_SIZE * from,
      scaleAt + BYTES * from,
      sumAt + BYTES * from,
      x + BYTES * BLOCK_SIZE * from,
      to - from,
    ],
  };
};

const floatCutters = Object.entries(FLOAT_BYTES).map(([name, bytes]): [string, Cutter] => [
  `product${name}`,
  packedProduct((k) => bytes * k, null),
]);
const integerCutters = Object.entries(INTEGER_BLOCKS).flatMap(([name, { bytes }]): [string, Cutter][] => {
  const rowBytes = (k: number) => (bytes * k) / BLOCK_SIZE;
  return [
    [`product${name}`, packedProduct(rowBytes, null)],
    [`product${name}OfMany`, packedProduct(rowBytes, (k) => WIDENED_BYTES * k)],
  ];
});

/** The cutters of the product kernels, by kernel name. */
export const productCutters: readonly (readonly [string, Cutter])[] = [
  ['matmulNT', matmulNT],
  ['matmulAlong', matmulAlong],
  ['panelsNT', panels('NT')],
  ['panelsNN', panels('NN')],
  ['quantize', quantize],
  ...floatCutters,
  ...integerCutters,
];
