// reads b, stored in f32 or f16: four scalars from scalar 4·at on
alias B = f32;
@group(0) @binding(1) var<storage, read> b: array<vec4<B>>;
fn quad_of_b(at: u32) -> vec4f { return vec4f(b[at]); }
