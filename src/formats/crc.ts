/**
 * Makes a 32-bit cyclic redundancy check from its reversed polynomial; all bits are inverted at the beginning and the
 * end. To continue a check over more bytes, pass the result for the earlier bytes as `before`.
 */
export function crcBy(polynomial: number): (bytes: Uint8Array, before?: number) => number {
  const table = Uint32Array.from({ length: 256 }, (_, byte) => {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ polynomial : crc >>> 1;
    return crc;
  });
  return (bytes, before = 0) => {
    let crc = ~before;
    for (const byte of bytes) crc = table[(crc ^ byte) & 255]! ^ (crc >>> 8);
    return ~crc >>> 0;
  };
}
