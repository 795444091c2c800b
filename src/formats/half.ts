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
