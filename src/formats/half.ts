/** IEEE half precision, 16 bits a number, as float32: exact, for each half is one. */
export function widenHalves(bits: Uint16Array): Float32Array {
  return Float32Array.from(bits, widenHalf);
}

function widenHalf(bits: number): number {
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
