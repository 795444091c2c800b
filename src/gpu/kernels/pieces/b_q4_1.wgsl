// b in blocks of GGUF's Q4_1 as a file has them: of 32 scalars halves d and m, then 16 bytes of two q each, 20 bytes
// together; a scalar is d·q + m. The quad that begins at scalar 4·at: low nibbles hold a block's first 16 scalars
@group(0) @binding(1) var<storage, read> b: array<u32>;
fn quad_of_b(at: u32) -> vec4f {
  let block = at / 8u * 5u;
  let scale = unpack2x16float(b[block]);
  let nibbles = (b[block + 1u + at % 4u] >> (at % 8u / 4u * 4u)) & 0x0f0f0f0fu;
  return scale.x * vec4f(unpack4xU8(nibbles)) + scale.y;
}
