// operands (in quads) and sizes of a norm and the projection after it, with functions for SwiGLU and rotary
override EPS: f32 = 1e-5;
alias Weight = f32; // or f16
alias Kept = f32; // or f16
struct Shape {
  N: u32, C: u32, M: u32, half: u32, turned: u32, norm_at: u32, projection_at: u32, bias_at: u32, save: u32,
  block: u32, swiglu: u32, bias: u32,
}
@group(0) @binding(0) var<storage, read> x: array<vec4f>;
@group(0) @binding(1) var<storage, read> weights: array<vec4<Weight>>;
@group(0) @binding(2) var<storage, read> positions: array<u32>;
@group(0) @binding(3) var<storage, read> table: array<vec4f>; // cos, sin, cos, sin
@group(0) @binding(4) var<storage, read_write> p: array<vec4<Kept>>;
@group(0) @binding(5) var<storage, read_write> act: array<vec4<Kept>>;
@group(0) @binding(6) var<storage, read_write> xhat: array<vec4<Kept>>;
@group(0) @binding(7) var<storage, read_write> inv: array<f32>;
@group(0) @binding(8) var<uniform> shape: Shape;

fn gated(gate: vec4f, up: vec4f) -> vec4f { return gate / (1.0 + exp(min(-gate, vec4f(80.0)))) * up; }

struct Turn { cosines: vec4f, sines: vec4f }

// the rotation of row n's position, for four pairs of a head from pair i on
fn turn_of(n: u32, i: u32) -> Turn {
  let at = (positions[n] * shape.half + i) / 2u;
  let t = table[at];
  let u = table[at + 1u];
  return Turn(vec4f(t.xz, u.xz), vec4f(t.yw, u.yw));
}
