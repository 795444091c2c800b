/** The float32 value of every float16, by its 16 bits. Computed on first use. */
let float16Table: Float32Array | null = null;

/** Reads the little-endian IEEE float16 (half precision) at a byte. Exact, because every float16 is a float32. */
export function float16At(bytes: Uint8Array, at: number): number {
  float16Table ??= Float32Array.from({ length: 65_536 }, (_, bits) => decodeFloat16(bits));
  return float16Table[bytes[at]! | (bytes[at + 1]! << 8)]!;
}

function decodeFloat16(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction > 0 ? NaN : sign * Infinity;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15));
}

/** Rounds to the nearest, ties to even. Numbers that are too large become infinite (IEEE 754). */
export function toFloat16(values: Float32Array): Uint16Array<ArrayBuffer> {
  const float16s = new Uint16Array(values.length); // `Uint16Array.from` would first build a list of all numbers
  for (let i = 0; i < values.length; i++) float16s[i] = encodeFloat16(values[i]!);
  return float16s;
}

const scratch = new DataView(new ArrayBuffer(4));

function encodeFloat16(value: number): number {
  scratch.setFloat32(0, value);
  const bits = scratch.getUint32(0);
  const sign = (bits >>> 16) & 0x8000;
  const magnitude = bits & 0x7fffffff;
  if (magnitude >= 0x7f800000) return sign | 0x7c00 | (magnitude > 0x7f800000 ? 0x200 : 0);
  if (magnitude >= 0x477ff000) return sign | 0x7c00;
  if (magnitude < 0x38800000) {
    // float16 numbers below 2^-14 are multiples of 2^-24; float32 numbers from 0.5 to 1 are too, so adding 0.5 rounds to such a multiple
    scratch.setFloat32(0, Math.fround(Math.abs(value) + 0.5));
    return sign | (scratch.getUint32(0) - 0x3f000000);
  }
  const rounded = magnitude + 0xfff + ((magnitude >>> 13) & 1);
  return sign | ((rounded - 0x38000000) >>> 13);
}
