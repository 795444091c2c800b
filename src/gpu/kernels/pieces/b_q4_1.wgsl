// reads b, stored in blocks of GGUF's Q4_1 as in a file: four scalars from scalar 4·at on. A block of 32 scalars has 20
// bytes: float16 d and m, then 16 bytes with two 4-bit q each; a scalar is d·q + m. The low nibbles hold the first 16
// scalars of a block
@group(0) @binding(1) var<storage, read> b: array<u32>;
fn quad_of_b(at: u32) -> vec4f {
  let block = at / 8u * 5u;
  let scale = unpack2x16float(b[block]);
  let nibbles = (b[block + 1u + at % 4u] >> (at % 8u / 4u * 4u)) & 0x0f0f0f0fu;
  return scale.x * vec4f(unpack4xU8(nibbles)) + scale.y;
}
