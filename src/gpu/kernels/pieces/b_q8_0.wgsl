// reads b, stored in blocks of GGUF's Q8_0 as in a file: four scalars from scalar 4·at on. A block of 32 scalars has 34
// bytes: a float16 d, then 32 signed bytes q; a scalar is d·q. Blocks begin at even bytes, so four scalars may lie across
// two words
@group(0) @binding(1) var<storage, read> b: array<u32>;
fn quad_of_b(at: u32) -> vec4f {
  let block = at / 8u * 34u;
  let d = unpack2x16float(b[block / 4u])[block % 4u / 2u];
  let byte = block + 2u + at % 8u * 4u;
  let low = b[byte / 4u];
  if (byte % 4u == 0u) { return d * vec4f(unpack4xI8(low)); }
  return d * vec4f(unpack4xI8((low >> 16u) | (b[byte / 4u + 1u] << 16u)));
}
