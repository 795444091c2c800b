// swiglu_forward: act = silu(gate)·up, silu(g) = g / (1 + e^−g)
// Shapes    gate_up (N, 2·F): gates then ups; act (N,F).
// Parallel  one thread per element of act: x covers F, y covers N. No shared memory.
// Numerics  f32; −g is capped at 80, so exp stays finite.
alias Kept = f32; // or f16
struct Shape { N: u32, F: u32 }
@group(0) @binding(0) var<storage, read> gate_up: array<Kept>;
@group(0) @binding(1) var<storage, read_write> act: array<Kept>;
@group(0) @binding(2) var<uniform> shape: Shape;

@compute @workgroup_size(16, 4)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let f = id.x;
  let n = id.y + id.z * 65532u;
  if (f >= shape.F || n >= shape.N) { return; }
  let gate = f32(gate_up[n * 2u * shape.F + f]);
  let up = f32(gate_up[n * 2u * shape.F + shape.F + f]);
  act[n * shape.F + f] = Kept(gate / (1.0 + exp(min(-gate, 80.0))) * up);
}
