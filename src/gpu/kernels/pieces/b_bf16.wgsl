// reads b, stored in pairs of bfloat16 (each is the upper half of a float32): four scalars from scalar 4·at on
@group(0) @binding(1) var<storage, read> b: array<vec2u>;
fn quad_of_b(at: u32) -> vec4f {
  let pairs = b[at];
  let low = bitcast<vec2f>(pairs << vec2u(16u));
  let high = bitcast<vec2f>(pairs & vec2u(0xffff0000u));
  return vec4f(low.x, high.x, low.y, high.y);
}
