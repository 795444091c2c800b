import type { AttentionShape } from '../attention.ts';
import { slotLayout, type SlotFormat } from '../wasm/slotKernels.ts';
import { BYTES, type Cutter } from './cut.ts';

/** Time of one multiply-add of attention's forward pass, in multiply-adds of a matrix product. */
const FORWARD_COST = 2;
/** Time of one multiply-add of attention's backward pass, in multiply-adds of a matrix product. */
const BACKWARD_COST = 3;

/**
 * Returns statistics of the number of keys that each of n queries sees. `words` is the memory, `counts` the address of
 * these numbers.
 */
function keyCounts(words: Int32Array, counts: number, n: number) {
  const keyCount = words.subarray(counts / BYTES, counts / BYTES + n);
  return {
    pairs: keyCount.reduce((sum, count) => sum + count, 0),
    longest: keyCount.reduce((most, count) => Math.max(most, count), 0),
    pairsBefore: (row: number) => keyCount.subarray(0, row).reduce((sum, count) => sum + count, 0),
  };
}

/** Bytes of the scores of one query and one head, and of the vector that is read past their end. */
const scoreBytes = (longest: number) => (longest + 4) * BYTES;

/** Splits `attend` by queries. */
const attend =
  ({ heads, headDim }: AttentionShape, words: Int32Array): Cutter =>
  (...parameters) => {
    const [out, keptProbabilities, q, qStride, keys, values, stride, table, first, counts, scores, n] = parameters as [
      ...[number, number, number, number, number, number],
      ...[number, number, number, number, number, number],
    ];
    const { pairs, longest, pairsBefore } = keyCounts(words, counts, n);
    return {
      work: 2 * FORWARD_COST * heads * headDim * pairs,
      units: n,
      part: (from, to) => [
        out + from * heads * headDim * BYTES,
        keptProbabilities === 0 ? 0 : keptProbabilities + heads * pairsBefore(from) * BYTES,
        q + from * qStride,
        ...[qStride, keys, values, stride, table],
        first + from * BYTES,
        counts + from * BYTES,
        ...[scores, to - from],
      ],
      scratch: { parameter: 10, bytes: scoreBytes(longest) },
    };
  };

/** Splits `attendBackward` by key heads, because several queries add to the gradient of one key. */
const attendBackward =
  ({ heads, kvHeads, headDim }: AttentionShape, words: Int32Array): Cutter =>
  (...parameters) => {
    const { pairs, longest } = keyCounts(words, parameters[7]!, parameters[9]!);
    const headsPerKv = heads / kvHeads;
    return {
      work: 5 * BACKWARD_COST * heads * headDim * pairs,
      units: kvHeads,
      part: (from, to) => [...parameters.slice(0, 10), from * headsPerKv, to * headsPerKv],
      scratch: { parameter: 8, bytes: scoreBytes(longest) },
    };
  };

/** Splits `attendSlots` by queries, or by key heads if there is only one query. */
const attendSlots =
  (shape: AttentionShape, format: SlotFormat, words: Int32Array): Cutter =>
  (...parameters) => {
    const [out, q, qStride, keys, values, tables, first, counts, scores, scoreStride, n, kvHeads] = parameters as [
      ...[number, number, number, number, number, number],
      ...[number, number, number, number, number, number],
    ];
    const { heads, headDim } = shape;
    const { headBytes } = slotLayout(shape, format);
    const width = heads * headDim * BYTES;
    const groupBytes = width / kvHeads;
    const headsPart = (from: number, to: number) => [
      ...[out + from * groupBytes, q + from * groupBytes, qStride, keys + from * headBytes, values + from * headBytes],
      ...[tables, first, counts, scores, scoreStride, 1, to - from],
    ];
    const queriesPart = (from: number, to: number) => [
      ...[out + from * width, q + from * qStride, qStride, keys, values, tables],
      ...[first + from * BYTES, counts + from * BYTES, scores, scoreStride, to - from, kvHeads],
    ];
    return {
      work: 2 * FORWARD_COST * heads * headDim * keyCounts(words, counts, n).pairs,
      units: n === 1 ? kvHeads : n,
      part: n === 1 ? headsPart : queriesPart,
      scratch: { parameter: 8, bytes: (heads / kvHeads) * scoreStride },
    };
  };

/** Returns the cutters of the attention kernels, by kernel name. `words` is the memory. */
export function attentionCutters(shape: AttentionShape, words: Int32Array): readonly (readonly [string, Cutter])[] {
  return [
    ['attendRows', attend(shape, words)],
    ['attendTable', attend(shape, words)],
    ['attendBackwardRows', attendBackward(shape, words)],
    ['attendBackwardTable', attendBackward(shape, words)],
    ['attendSlotsF32', attendSlots(shape, 'F32', words)],
    ['attendSlotsF16', attendSlots(shape, 'F16', words)],
  ];
}
