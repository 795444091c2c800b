// adam_corrections: Adam's bias corrections 1 − beta1^n and 1 − beta2^n for step n, the step after those taken so far
// Shapes    ledger, the state of the optimizer: number of steps taken, then 1 − beta1^steps and 1 − beta2^steps (f32
//           bits), then the same two for step n, which are written here; see adamw.
// Parallel  one workgroup, one thread per correction. No shared memory.
// Numerics  f32, updated as c ← c·beta + (1 − beta), which is exact where 1 − pow(beta, n) would cancel. A restored
//           optimizer has only its step count; then the update starts again from step 1.
struct Shape { threads: u32 }
//! piece step_knobs
@group(0) @binding(0) var<storage, read_write> ledger: array<u32>;
@group(0) @binding(1) var<uniform> knobs: Knobs;
@group(0) @binding(2) var<uniform> shape: Shape;

@compute @workgroup_size(2)
fn main(@builtin(local_invocation_index) lane: u32) {
  if (lane >= shape.threads) { return; }
  let beta = select(knobs.beta1, knobs.beta2, lane == 1u);
  var rest = bitcast<f32>(ledger[1u + lane]);
  for (var n = select(ledger[0], 0u, rest != 0.0) + 1u; n > 0u; n--) {
    rest = rest * beta + select(knobs.rest1, knobs.rest2, lane == 1u);
  }
  ledger[3u + lane] = bitcast<u32>(rest);
}
