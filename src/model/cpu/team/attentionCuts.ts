import type { AttentionShape } from '../attention.ts';
import { slotLayout, type SlotFormat } from '../wasm/slotKernels.ts';
import { BYTES, type Cutter } from './cut.ts';

/** Multiply-adds of a product that take as long as one of attention, forward and back. */
const FORWARD = 2;
const BACKWARD = 3;

/** How many keys each of some queries sees, in the memory `words` from the address `counts` on. */
function seen(words: Int32Array, counts: number, n: number) {
  const of = words.subarray(counts / BYTES, counts / BYTES + n);
  return {
    pairs: of.reduce((sum, count) => sum + count, 0),
    longest: of.reduce((most, count) => Math.max(most, count), 0),
    before: (row: number) => of.subarray(0, row).reduce((sum, count) => sum + count, 0),
  };
}

/** Scores of one query and one head, and what vectors read past them. */
const scoreBytes = (longest: number) => (longest + 4) * BYTES;

/** `attend`: cut into queries. */
const attend =
  ({ heads, headDim }: AttentionShape, words: Int32Array): Cutter =>
  (...given) => {
    const [out, kept, q, qStride, keys, values, stride, table, first, counts, scores, n] = given as [
      ...[number, number, number, number, number, number],
      ...[number, number, number, number, number, number],
    ];
    const { pairs, longest, before } = seen(words, counts, n);
    return {
      work: 2 * FORWARD * heads * headDim * pairs,
      units: n,
      part: (from, to) => [
        out + from * heads * headDim * BYTES,
        kept === 0 ? 0 : kept + heads * before(from) * BYTES,
        q + from * qStride,
        ...[qStride, keys, values, stride, table],
        first + from * BYTES,
        counts + from * BYTES,
        ...[scores, to - from],
      ],
      scratch: { parameter: 10, bytes: scoreBytes(longest) },
    };
  };

/** `attendBackward`: several queries add to the gradient of a key, so it is cut into heads of keys. */
const attendBackward =
  ({ heads, kvHeads, headDim }: AttentionShape, words: Int32Array): Cutter =>
  (...given) => {
    const { pairs, longest } = seen(words, given[7]!, given[9]!);
    const group = heads / kvHeads;
    return {
      work: 5 * BACKWARD * heads * headDim * pairs,
      units: kvHeads,
      part: (from, to) => [...given.slice(0, 10), from * group, to * group],
      scratch: { parameter: 8, bytes: scoreBytes(longest) },
    };
  };

/** `attendSlots`: cut into queries; where there is but one, into the heads of its keys. */
const attendSlots =
  (shape: AttentionShape, format: SlotFormat, words: Int32Array): Cutter =>
  (...given) => {
    const [out, q, qStride, keys, values, tables, first, counts, scores, scoreStride, n, kvHeads] = given as [
      ...[number, number, number, number, number, number],
      ...[number, number, number, number, number, number],
    ];
    const { heads, headDim } = shape;
    const { headBytes } = slotLayout(shape, format);
    const width = heads * headDim * BYTES;
    const group = width / kvHeads;
    const ofHeads = (from: number, to: number) => [
      ...[out + from * group, q + from * group, qStride, keys + from * headBytes, values + from * headBytes],
      ...[tables, first, counts, scores, scoreStride, 1, to - from],
    ];
    const ofQueries = (from: number, to: number) => [
      ...[out + from * width, q + from * qStride, qStride, keys, values, tables],
      ...[first + from * BYTES, counts + from * BYTES, scores, scoreStride, to - from, kvHeads],
    ];
    return {
      work: 2 * FORWARD * heads * headDim * seen(words, counts, n).pairs,
      units: n === 1 ? kvHeads : n,
      part: n === 1 ? ofHeads : ofQueries,
      scratch: { parameter: 8, bytes: (heads / kvHeads) * scoreStride },
    };
  };

/** How attention is cut, by name of kernel; `words` is the memory. */
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
