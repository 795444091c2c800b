/** float32 of every half precision number, by its bits; made when the first is asked for. */
let halves: Float32Array | null = null;

/** The IEEE half precision number at a byte, little-endian, as float32: exact, for each half is one. */
export function halfAt(bytes: Uint8Array, at: number): number {
  halves ??= Float32Array.from({ length: 65_536 }, (_, bits) => halfOf(bits));
  return halves[bytes[at]! | (bytes[at + 1]! << 8)]!;
}

function halfOf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction > 0 ? NaN : sign * Infinity;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15));
}

/** float32 as the bits of the nearest half precision numbers, ties to even; what is too large is infinite. */
export function narrowedHalves(values: Float32Array): Uint16Array {
  return Uint16Array.from(values, narrowHalf);
}

function narrowHalf(x: number): number {
  const sign = x < 0 || Object.is(x, -0) ? 0x8000 : 0;
  const size = Math.abs(x);
  if (Number.isNaN(x)) return 0x7e00;
  // a number's bits are those of its distance from 0 in steps of its binade; steps of the smallest are 2^-24
  const exponent = Math.max(-14, Math.floor(Math.log2(size)));
  const steps = size === 0 ? 0 : roundedToEven(size / 2 ** (exponent - 10));
  // a carry into the next binade adds one to the exponent's bits by itself
  const bits = size === 0 ? 0 : (exponent + 14) * 1024 + steps;
  return sign | Math.min(bits, 0x7c00);
}

function roundedToEven(x: number): number {
  const low = Math.floor(x);
  const rest = x - low;
  return low + (rest > 0.5 || (rest === 0.5 && low % 2 === 1) ? 1 : 0);
}
