// step_finish: closes an optimizer step: gradient norm, clip scale min(1, c / (norm + 1e-6)), health, Adam's bias
//     corrections,
//     and the step's line in the log. A step with a non-finite gradient or weight, or with no token to learn from,
//     is skipped. With ADVANCE 0 the line is written and nothing else: the step is measured, not taken.
// Shapes    partials (S, 4) of gradient_norm; stats (B, 8) of gradient_norm; control (8): scale f32, skip, steps,
//           1 − beta1^steps f32, 1 − beta2^steps f32; log (slots, 16): 8 summed stats, norm, skip (1 empty, 2
//           non-finite),
//           culprit (1 weight, 2 gradient), its index in the pool.
// Parallel  one workgroup of 16 threads: threads 0 … 7 sum a stat each, thread 8 does the rest. No shared memory.
// Numerics  f32 in index order. 1 − beta^n is carried as c ← c·beta + (1 − beta), exact where 1 − pow(beta, n) cancels.
override ADVANCE: u32 = 1; // 0: Adam stays where it is
struct Shape { S: u32, B: u32 }
struct Knobs {
  temperature: f32, aggregation: f32, plain: f32, clip_low: f32, clip_high: f32, dual_clip: f32,
  kl_estimator: f32, kl_coef: f32, entropy_coef: f32, value_coef: f32, value_clip: f32,
  learning_rate: f32, beta1: f32, rest1: f32, beta2: f32, rest2: f32, adam_eps: f32, weight_decay: f32,
  max_grad_norm: f32, slot: f32,
}
@group(0) @binding(0) var<storage, read> partials: array<u32>;
@group(0) @binding(1) var<storage, read> stats: array<f32>;
@group(0) @binding(2) var<storage, read_write> control: array<u32>;
@group(0) @binding(3) var<storage, read_write> log: array<u32>;
@group(0) @binding(4) var<uniform> knobs: Knobs;
@group(0) @binding(5) var<uniform> shape: Shape;

fn stat(channel: u32) -> f32 {
  var sum = 0.0;
  for (var b = 0u; b < shape.B; b++) { sum += stats[b * 8u + channel]; }
  return sum;
}

@compute @workgroup_size(16)
fn main(@builtin(local_invocation_index) lane: u32) {
  let line = u32(knobs.slot) * 16u;
  if (lane < 8u) { log[line + lane] = bitcast<u32>(stat(lane)); }
  if (lane != 8u) { return; }
  var squares = 0.0;
  var bad_gradient = 0xffffffffu;
  var bad_weight = 0xffffffffu;
  for (var s = 0u; s < shape.S; s++) {
    squares += bitcast<f32>(partials[s * 4u]);
    bad_gradient = min(bad_gradient, partials[s * 4u + 1u]);
    bad_weight = min(bad_weight, partials[s * 4u + 2u]);
  }
  let norm = sqrt(squares);
  var skip = 0u;
  var culprit = 0u;
  var place = 0xffffffffu;
  if (stat(7u) == 0.0) { skip = 1u; }
  if (!(norm < 3e38)) { skip = 2u; }
  if (bad_gradient != 0xffffffffu) { skip = 2u; culprit = 2u; place = bad_gradient; }
  if (bad_weight != 0xffffffffu) { skip = 2u; culprit = 1u; place = bad_weight; }
  log[line + 8u] = bitcast<u32>(norm);
  log[line + 9u] = skip;
  log[line + 10u] = culprit;
  log[line + 11u] = place;
  if (ADVANCE == 0u) { return; }
  control[1] = skip;
  if (skip != 0u) { return; }
  control[0] = bitcast<u32>(min(1.0, knobs.max_grad_norm / (norm + 1e-6)));
  var rest = vec2f(bitcast<f32>(control[3]), bitcast<f32>(control[4]));
  if (rest.x == 0.0) {
    // a restored optimizer brings its step count only
    for (var n = 0u; n < control[2]; n++) {
      rest = rest * vec2f(knobs.beta1, knobs.beta2) + vec2f(knobs.rest1, knobs.rest2);
    }
  }
  rest = rest * vec2f(knobs.beta1, knobs.beta2) + vec2f(knobs.rest1, knobs.rest2);
  control[2] += 1u;
  control[3] = bitcast<u32>(rest.x);
  control[4] = bitcast<u32>(rest.y);
}
