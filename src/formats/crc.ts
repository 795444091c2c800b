/**
 * Makes the function that computes a 32-bit cyclic redundancy check (CRC), from the reversed polynomial. All bits are
 * inverted at the beginning and at the end. To continue a check over more bytes, pass the result for the earlier bytes
 * as `earlier`.
 */
export function crcFunction(polynomial: number): (bytes: Uint8Array, earlier?: number) => number {
  const table = Uint32Array.from({ length: 256 }, (_, byte) => {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ polynomial : crc >>> 1;
    return crc;
  });
  return (bytes, earlier = 0) => {
    let crc = ~earlier;
    for (const byte of bytes) crc = table[(crc ^ byte) & 255]! ^ (crc >>> 8);
    return ~crc >>> 0;
  };
}

/** CRC-32 of bytes (IEEE’s polynomial), as zip and gzip have it. */
export const crc32 = crcFunction(0xedb88320);
