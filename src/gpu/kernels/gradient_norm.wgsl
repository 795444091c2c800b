// gradient_norm: what closing an optimizer step rests on: adds the slabs of the gradients into the first; sums of their
//     squares, and where the first non-finite gradient and weight stand; the step's stats, sums over the tokens of the
//     minibatch; and Adam's bias corrections 1 − beta^n if the step is taken
// Shapes    grads (slabs, P), weights (P) with one layout; minibatch (M) batch rows or 0xffffffff; coefficients
//           (11, B, T), of which the third to tenth are summands of the 8 stats; sums: (groups, 4) sum of squares (f32
//           bits), first bad gradient, first bad weight (index into the pool, 0xffffffff for none), unused, then the
//           stats (f32 bits), 0 below `first_stat`; ledger: see adamw.
// Parallel  a workgroup for each stretch of 64·chunk elements, then one for each stat; its 64 threads take turns,
//           neighbours in memory for neighbouring threads, and leave their sums in shared memory behind a barrier;
//           there thread 0 adds them in order. adamw joins the workgroups.
// Numerics  f32, slabs in order. Finite is judged by exponent bits of what lies in memory: x != x does not find a NaN
//           everywhere. 1 − beta^n is carried as c ← c·beta + (1 − beta), exact where 1 − pow(beta, n) cancels.
override LARGEST: u32 = 0x7f7fffffu; // bits of the largest weight that can be stored; of f16 where products read halves
struct Shape { P: u32, groups: u32, chunk: u32, slabs: u32, M: u32, T: u32, B: u32, first_stat: u32 }
struct Knobs {
  temperature: f32, aggregation: f32, plain: f32, clip_low: f32, clip_high: f32, dual_clip: f32,
  kl_estimator: f32, kl_coef: f32, entropy_coef: f32, value_coef: f32, value_clip: f32,
  learning_rate: f32, beta1: f32, rest1: f32, beta2: f32, rest2: f32,
}
@group(0) @binding(0) var<storage, read_write> grads: array<u32>;
@group(0) @binding(1) var<storage, read> weights: array<u32>;
@group(0) @binding(2) var<storage, read> minibatch: array<u32>;
@group(0) @binding(3) var<storage, read> coefficients: array<f32>;
@group(0) @binding(4) var<storage, read_write> sums: array<u32>;
@group(0) @binding(5) var<storage, read_write> ledger: array<u32>;
@group(0) @binding(6) var<uniform> knobs: Knobs;
@group(0) @binding(7) var<uniform> shape: Shape;
struct Part { sum: f32, bad_gradient: u32, bad_weight: u32 }
var<workgroup> parts: array<Part, 64>;

fn bad(bits: u32) -> bool { return (bits & 0x7f800000u) == 0x7f800000u; }

fn measured(first: u32) -> Part {
  var part = Part(0.0, 0xffffffffu, 0xffffffffu);
  for (var i = first; i < min(first + 64u * shape.chunk, shape.P); i += 64u) {
    var bits = grads[i];
    var finite = !bad(bits);
    if (shape.slabs > 1u) {
      var g = bitcast<f32>(bits);
      for (var slab = 1u; slab < shape.slabs; slab++) {
        let more = grads[slab * shape.P + i];
        finite = finite && !bad(more);
        g += bitcast<f32>(more);
      }
      bits = bitcast<u32>(g);
      grads[i] = bits;
    }
    if (!finite || bad(bits)) { part.bad_gradient = min(part.bad_gradient, i); }
    if ((weights[i] & 0x7fffffffu) > LARGEST) { part.bad_weight = min(part.bad_weight, i); }
    part.sum += bitcast<f32>(bits) * bitcast<f32>(bits);
  }
  return part;
}

fn over_tokens(stat: u32, lane: u32) -> f32 {
  var sum = 0.0;
  for (var i = lane; i < select(0u, shape.M * shape.T, stat >= shape.first_stat); i += 64u) {
    let row = minibatch[i / shape.T];
    if (row != 0xffffffffu) { sum += coefficients[((2u + stat) * shape.B + row) * shape.T + i % shape.T]; }
  }
  return sum;
}

fn correct_biases() {
  var rest = vec2f(bitcast<f32>(ledger[1]), bitcast<f32>(ledger[2]));
  // a restored optimizer brings its step count only
  for (var n = select(ledger[0], 0u, rest.x != 0.0) + 1u; n > 0u; n--) {
    rest = rest * vec2f(knobs.beta1, knobs.beta2) + vec2f(knobs.rest1, knobs.rest2);
  }
  ledger[3] = bitcast<u32>(rest.x);
  ledger[4] = bitcast<u32>(rest.y);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let g = group.x;
  if (g < shape.groups) { parts[lane] = measured(64u * shape.chunk * g + lane); }
  else { parts[lane] = Part(over_tokens(g - shape.groups, lane), 0u, 0u); }
  workgroupBarrier();
  if (lane > 0u) { return; }
  var all = parts[0];
  for (var i = 1u; i < 64u; i++) {
    all.sum += parts[i].sum;
    all.bad_gradient = min(all.bad_gradient, parts[i].bad_gradient);
    all.bad_weight = min(all.bad_weight, parts[i].bad_weight);
  }
  if (g >= shape.groups) {
    sums[3u * shape.groups + g] = bitcast<u32>(all.sum);
    return;
  }
  sums[4u * g] = bitcast<u32>(all.sum);
  sums[4u * g + 1u] = all.bad_gradient;
  sums[4u * g + 2u] = all.bad_weight;
  if (g == 0u) { correct_biases(); }
}
