import { integer, unsigned, type Integer, type Local, type Value } from './instructions.ts';

/*
 * Instructions on memory that threads share (WebAssembly threads proposal, opcode prefix 0xfe): each happens at once for all of them, in one order.
 * Addresses are multiples of four.
 */

const ATOMIC = 0xfe;
const i32 = (...code: number[]): Value<'i32'> => ({ kind: 'i32', code });
/** As naturally aligned as they must be, from the address itself on. */
const AT = [2, 0] as const;

/** The int32 at an address. */
export const atomicLoad = (at: Integer) => i32(...integer(at).code, ATOMIC, 0x10, ...AT);
/** Adds to the int32 at an address, or takes from it; what was there before. */
export const atomicAdd = (at: Integer, by: Integer) => i32(...integer(at).code, ...integer(by).code, ATOMIC, 0x1e, ...AT); // prettier-ignore
export const atomicTake = (at: Integer, by: Integer) => i32(...integer(at).code, ...integer(by).code, ATOMIC, 0x25, ...AT); // prettier-ignore
/** Wakes up to `count` threads that sleep at an address. Returns how many woke. */
export const wake = (at: Integer, count: Integer) => i32(...integer(at).code, ...integer(count).code, ATOMIC, 0x00, ...AT); // prettier-ignore
/** Sleeps until `wake` is called for this address. Returns at once if the address does not hold `expected`. */
export const sleep = (at: Integer, expected: Integer) =>
  i32(...integer(at).code, ...integer(expected).code, 0x42, 0x7f, ATOMIC, 0x01, ...AT); // −1 ns: however long

/** The value, which the variable holds from then on. */
export const kept = (local: Local<'i32'>, value: Integer) =>
  i32(...integer(value).code, 0x22, ...unsigned(local.index));
