// b in f32 or f16: the quad of four scalars that begins at scalar 4·at
alias B = f32;
@group(0) @binding(1) var<storage, read> b: array<vec4<B>>;
fn quad_of_b(at: u32) -> vec4f { return vec4f(b[at]); }
