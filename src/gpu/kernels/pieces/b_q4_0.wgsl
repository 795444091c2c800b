// b in blocks of GGUF's Q4_0 as a file has them: of 32 scalars a half d, then 16 bytes of two q each, 18 bytes
// together; a scalar is d·(q − 8). The quad that begins at scalar 4·at: low nibbles hold a block's first 16 scalars;
// blocks begin at even bytes, so a quad may lie across two words
@group(0) @binding(1) var<storage, read> b: array<u32>;
fn quad_of_b(at: u32) -> vec4f {
  let block = at / 8u * 18u;
  let d = unpack2x16float(b[block / 4u])[block % 4u / 2u];
  let byte = block + 2u + at % 4u * 4u;
  var word = b[byte / 4u];
  if (byte % 4u != 0u) { word = (word >> 16u) | (b[byte / 4u + 1u] << 16u); }
  return d * (vec4f(unpack4xU8((word >> (at % 8u / 4u * 4u)) & 0x0f0f0f0fu)) - 8.0);
}
