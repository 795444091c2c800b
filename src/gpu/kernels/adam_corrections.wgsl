// adam_corrections: Adam's bias corrections 1 − beta1^n and 1 − beta2^n if step n is taken, n one more than were taken
// Shapes    ledger: steps, 1 − beta1^steps, 1 − beta2^steps f32, and here to be written those two of step n; see adamw.
// Parallel  one workgroup, a thread each. No shared memory.
// Numerics  f32, carried as c ← c·beta + (1 − beta), exact where 1 − pow(beta, n) cancels. A restored optimizer brings
//           its step count only: then all steps are gone through.
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
