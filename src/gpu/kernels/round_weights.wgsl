// round_weights: shadow = weights, rounded to the type that matrix products read, as the copy that forward and backward
//     passes use
// Shapes    weights, shadow (P), with the same layout.
// Parallel  one thread per scalar; y continues x past 65,535 workgroups. No shared memory.
// Numerics  rounds exactly as adamw does, so a restored run continues with the same bits. A weight beyond the largest
//           f16, 65,504, becomes infinite; gradient_norm looks for such weights in the f32 originals.
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
