// reads b, stored in blocks of GGUF's Q4_0 as in a file: four scalars from scalar 4·at on. A block of 32 scalars has 18
// bytes: a float16 d, then 16 bytes with two 4-bit q each; a scalar is d·(q − 8). The low nibbles hold the first 16
// scalars of a block. Blocks begin at even bytes, so four scalars may lie across two words
@group(0) @binding(1) var<storage, read> b: array<u32>;
fn quad_of_b(at: u32) -> vec4f {
  let block = at / 8u * 18u;
  let d = unpack2x16float(b[block / 4u])[block % 4u / 2u];
  let byte = block + 2u + at % 4u * 4u;
  var word = b[byte / 4u];
  if (byte % 4u != 0u) { word = (word >> 16u) | (b[byte / 4u + 1u] << 16u); }
  return d * (vec4f(unpack4xU8((word >> (at % 8u / 4u * 4u)) & 0x0f0f0f0fu)) - 8.0);
}
