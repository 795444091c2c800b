// reads b, stored in pairs of float16 numbers: four scalars from scalar 4·at on. Works without the feature shader-f16
@group(0) @binding(1) var<storage, read> b: array<vec2u>;
fn quad_of_b(at: u32) -> vec4f { return vec4f(unpack2x16float(b[at].x), unpack2x16float(b[at].y)); }
