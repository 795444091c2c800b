// round_weights: shadow = weights, rounded to what products read
// Shapes    weights, shadow (P), one layout.
// Parallel  one thread per scalar; y continues x past 65,535 workgroups. No shared memory.
// Numerics  rounded as adamw rounds, so a restored run goes on with the same bits; beyond 65,504 f16 has infinity only,
//           which gradient_norm finds in the weights themselves.
alias Weight = f32; // or f16
struct Shape { P: u32 }
@group(0) @binding(0) var<storage, read> weights: array<f32>;
@group(0) @binding(1) var<storage, read_write> shadow: array<Weight>;
@group(0) @binding(2) var<uniform> shape: Shape;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x + id.y * 4194240u;
  if (i < shape.P) { shadow[i] = Weight(weights[i]); }
}
