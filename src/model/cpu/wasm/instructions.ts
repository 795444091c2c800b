/*
 * WebAssembly instructions as expressions. An expression is the bytes of code that leave its value on the stack
 * (WebAssembly Core Specification 2.0, chapter 5; SIMD is called "vector instructions" there). Kernels are built from
 * these at run time, so that loops in TypeScript can unroll the kernel's loops, and a model's sizes are constants in
 * the kernel. Addresses are in bytes. Vectors are four float32 unless noted. `plus`, `minus` and `times` compute with
 * int32, `add`, `sub` and `mul` with vectors.
 */

/** The types of values: int32 for addresses and counts, and vectors of 128 bits. */
export type Kind = 'i32' | 'v128';

/** An expression. If it's used twice, it's computed twice. */
export interface Value<K extends Kind> {
  readonly kind: K;
  readonly code: readonly number[];
}

/** A local variable of a routine. */
export interface Local<K extends Kind> extends Value<K> {
  readonly index: number;
}

export type Vector = Value<'v128'>;
/** An expression of type int32, or a constant. */
export type Integer = Value<'i32'> | number;

/** Lanes of a vector that are read or written. The others become 0 when reading, and aren't written to memory. */
export type Lanes = 1 | 2 | 4;

/** Returns the LEB128 encoding of a count or an index. */
export function unsigned(n: number): number[] {
  const bytes: number[] = [];
  let remaining = n;
  do {
    const low = remaining & 0x7f;
    remaining >>>= 7;
    bytes.push(remaining === 0 ? low : low | 0x80);
  } while (remaining !== 0);
  return bytes;
}

function signed(n: number): number[] {
  const bytes: number[] = [];
  let remaining = n;
  for (;;) {
    const low = remaining & 0x7f;
    remaining >>= 7;
    if ((remaining === 0 && (low & 0x40) === 0) || (remaining === -1 && (low & 0x40) !== 0)) return [...bytes, low];
    bytes.push(low | 0x80);
  }
}

const SIMD = 0xfd;
const i32 = (...code: number[]): Value<'i32'> => ({ kind: 'i32', code });
const v128 = (...code: number[]): Vector => ({ kind: 'v128', code });
const float32Bytes = (x: number) => [...new Uint8Array(Float32Array.of(x).buffer)];

export const integer = (x: Integer): Value<'i32'> => (typeof x === 'number' ? i32(0x41, ...signed(x)) : x);

const integerOperation = (op: number) => (a: Integer, b: Integer) => i32(...integer(a).code, ...integer(b).code, op);
export const plus = integerOperation(0x6a);
export const minus = integerOperation(0x6b);
export const times = integerOperation(0x6c);
/** ⌊a/b⌋ of non-negative numbers. */
export const quotient = integerOperation(0x6d);
export const less = integerOperation(0x48);
export const equal = integerOperation(0x46);

/** a if the condition is not 0, else b. Both are computed. */
export const select = (condition: Integer, a: Integer, b: Integer) =>
  i32(...integer(a).code, ...integer(b).code, ...integer(condition).code, 0x1b);

export const loadByte = (at: Integer) => i32(...integer(at).code, 0x2d, 0, 0);
export const loadInteger = (at: Integer) => i32(...integer(at).code, 0x28, 2, 0);

const vectorOperation =
  (...op: number[]) =>
  (a: Vector, b: Vector) =>
    v128(...a.code, ...b.code, SIMD, ...op);
export const add = vectorOperation(0xe4, 1);
export const sub = vectorOperation(0xe5, 1);
export const mul = vectorOperation(0xe6, 1);
export const div = vectorOperation(0xe7, 1);
export const min = vectorOperation(0xe8, 1);
export const max = vectorOperation(0xe9, 1);
export const and = vectorOperation(0x4e);
export const or = vectorOperation(0x50);
/** The bits of a that are 0 in b. */
export const andNot = vectorOperation(0x4f);
/** A mask of float32 lanes: all bits 1 where a < b, else 0. */
export const lessFloats = vectorOperation(0x43);
/** Multiplies two vectors of eight int16 and adds the products of neighbours: four int32. */
export const dotOfPairs = vectorOperation(0xba, 1);
/** Converts two vectors of four int32 to eight int16. Numbers outside the range become the largest or smallest int16. */
export const narrow = vectorOperation(0x85, 1);
/** Converts two vectors of four int32 to eight uint16. Numbers outside the range become the largest uint16 or 0. */
export const narrowUnsigned = vectorOperation(0x86, 1);
export const addIntegers = vectorOperation(0xae, 1);
/** A mask of int32 lanes: all bits 1 where a < b, else 0. */
export const lessIntegers = vectorOperation(0x39);

/** a·b + c, rounded once if the processor has an instruction for it, otherwise twice: relaxed SIMD leaves this open. */
export const fused = (a: Vector, b: Vector, c: Vector) => v128(...a.code, ...b.code, ...c.code, SIMD, 0x85, 2);

/** sum + a·b. If not fused, it's rounded twice and has the same bits on every processor. */
export const multiplyAdd = (isFused: boolean) => (sum: Vector, a: Vector, b: Vector) =>
  isFused ? fused(a, b, sum) : add(sum, mul(a, b));

const unaryOperation =
  (...op: number[]) =>
  (a: Vector) =>
    v128(...a.code, SIMD, ...op);
export const absolute = unaryOperation(0xe0, 1);
export const squareRoot = unaryOperation(0xe3, 1);
/** Rounds to the nearest integer, ties to even. */
export const nearest = unaryOperation(0x6a);
/** Converts float32 lanes to int32, rounding towards 0. NaN becomes 0. */
export const truncate = unaryOperation(0xf8, 1);

/** Converts int32 lanes to float32. */
export const convert = unaryOperation(0xfa, 1);

export const shiftLeft = (a: Vector, bits: number) => v128(...a.code, ...integer(bits).code, SIMD, 0xab, 1);

/** Shifts uint32 lanes right. */
export const shiftRight = (a: Vector, bits: number) => v128(...a.code, ...integer(bits).code, SIMD, 0xad, 1);
/** Shifts eight uint16 lanes right. */
export const shiftPairsRight = (a: Vector, bits: number) => v128(...a.code, ...integer(bits).code, SIMD, 0x8d, 1);

/** A vector with the float32 x in every lane. */
export const constant = (x: number) => {
  const lane = float32Bytes(x);
  return v128(SIMD, 0x0c, ...lane, ...lane, ...lane, ...lane);
};
export const integerLanes = (...lanes: readonly [number, number, number, number]) =>
  v128(SIMD, 0x0c, ...new Uint8Array(Int32Array.from(lanes).buffer));
export const splatInteger = (x: Integer) => v128(...integer(x).code, SIMD, 0x11);

/** A vector of four 32-bit lanes picked from a (lanes 0 … 3) and b (lanes 4 … 7). */
export const shuffle = (a: Vector, b: Vector, lanes: readonly [number, number, number, number]) =>
  v128(
    ...a.code,
    ...b.code,
    SIMD,
    0x0d,
    ...lanes.flatMap((lane) => [4 * lane, 4 * lane + 1, 4 * lane + 2, 4 * lane + 3]),
  );

const vectorLoad =
  (op: number, align: number) =>
  (at: Integer, offset = 0): Vector =>
    v128(...integer(at).code, SIMD, op, align, ...unsigned(offset));
/** Loads eight int8 as eight int16, from any address. */
export const loadBytes = vectorLoad(0x01, 0);
/** Loads eight uint8 as eight int16, from any address. */
export const loadUnsignedBytes = vectorLoad(0x02, 0);
/** Loads four uint16 as four int32, from any address. */
export const loadUint16 = vectorLoad(0x04, 0);
/** Loads sixteen bytes from any address. */
export const loadAnywhere = vectorLoad(0x00, 0);

/** Replaces lane `lane` of v, which has 16 or 32 bits, by the number at an address. The address needs no alignment. */
export const loadLane = (bits: 16 | 32, at: Integer, v: Vector, lane: number, offset = 0) =>
  v128(...integer(at).code, ...v.code, SIMD, bits === 16 ? 0x55 : 0x56, 0, ...unsigned(offset), lane);

// v128.load32_zero, v128.load64_zero, v128.load; v128.store32_lane, v128.store64_lane, v128.store
const LOAD = { 1: 0x5c, 2: 0x5d, 4: 0x00 } as const;
const STORE = { 1: 0x5a, 2: 0x5b, 4: 0x0b } as const;

/** Loads `lanes` numbers of 32 bits. The address is a multiple of four. */
export const load = (at: Integer, lanes: Lanes = 4, offset = 0) =>
  v128(...integer(at).code, SIMD, LOAD[lanes], 2, ...unsigned(offset));

/** A vector with the number at an address in every lane. */
export const loadSplat = (at: Integer, offset = 0) => v128(...integer(at).code, SIMD, 0x09, 2, ...unsigned(offset));

/** Returns the code that stores the lowest lanes of a vector. */
export const storeCode = (at: Integer, value: Vector, lanes: Lanes = 4, offset = 0) => [
  ...integer(at).code,
  ...value.code,
  SIMD,
  STORE[lanes],
  2,
  ...unsigned(offset),
  ...(lanes === 4 ? [] : [0]),
];
