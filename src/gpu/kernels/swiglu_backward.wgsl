// swiglu_backward: with s = 1 / (1 + e^−gate): dgate = dact·up·s·(1 + gate·(1 − s)); dup = dact·gate·s
// Shapes    gate_up, dgate_up (N, 2·F): gates then ups; dact (N,F).
// Parallel  one thread per element of dact: x covers F, y covers N. No shared memory.
// Numerics  f32; −gate is capped at 80, so exp stays finite.
alias Kept = f32; // or f16
struct Shape { N: u32, F: u32 }
@group(0) @binding(0) var<storage, read> gate_up: array<Kept>;
@group(0) @binding(1) var<storage, read> dact: array<f32>;
@group(0) @binding(2) var<storage, read_write> dgate_up: array<f32>;
@group(0) @binding(3) var<uniform> shape: Shape;

@compute @workgroup_size(16, 4)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let f = id.x;
  let n = id.y + id.z * 65532u;
  if (f >= shape.F || n >= shape.N) { return; }
  let at = n * 2u * shape.F + f;
  let gate = f32(gate_up[at]);
  let s = 1.0 / (1.0 + exp(min(-gate, 80.0)));
  let d = dact[n * shape.F + f];
  dgate_up[at] = d * f32(gate_up[at + shape.F]) * s * (1.0 + gate * (1.0 - s));
  dgate_up[at + shape.F] = d * gate * s;
}
