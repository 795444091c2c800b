/** float32 of every half precision number, by its bits; made when the first is asked for. */
let halves: Float32Array | null = null;

/** IEEE half precision, 16 bits a number, as float32: exact, for each half is one. */
export function widenHalves(bits: Uint16Array): Float32Array {
  return Float32Array.from(bits, widenHalf);
}

/** The half precision number of these 16 bits. */
function widenHalf(bits: number): number {
  halves ??= Float32Array.from({ length: 65_536 }, (_, of) => halfOf(of));
  return halves[bits]!;
}

/** The half precision number at a byte, little-endian. */
export function halfAt(bytes: Uint8Array, at: number): number {
  return widenHalf(bytes[at]! | (bytes[at + 1]! << 8));
}

function halfOf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction > 0 ? NaN : sign * Infinity;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15));
}

/** bfloat16 as float32: its bits are the upper half of one's. */
export function widenBrain(bits: Uint16Array): Float32Array {
  return new Float32Array(Uint32Array.from(bits, (word) => word << 16).buffer);
}
