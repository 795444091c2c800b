// gradient_norm: what closing an optimizer step rests on: adds the slabs of the gradients into the first; sums of their
//     squares, and where the first non-finite gradient and weight stand; the step's stats, sums over the tokens of the
//     minibatch; and Adam's bias corrections 1 − beta^n if the step is taken
// Shapes    grads (slabs, P), weights (P) with one layout; minibatch (M) batch rows or 0xffffffff; coefficients
//           (11, B, T), of which the third to tenth are summands of the 8 stats; sums (2, groups + 8): sums of squares,
//           then the stats, 0 below `first_stat` (f32 bits), and as many culprits: the index in the pool of the first
//           bad weight, else GRADIENT + that of the first bad gradient, else 0xffffffff; ledger: see adamw.
// Parallel  a workgroup for each stretch of 64·chunk elements, then one for each stat; its 64 threads take turns,
//           neighbours in memory for neighbouring threads, and leave their sums in shared memory behind a barrier;
//           there thread 0 adds them in order. adamw joins the workgroups.
// Numerics  f32, slabs in order. Finite is judged by exponent bits of what lies in memory: x != x does not find a NaN
//           everywhere. 1 − beta^n is carried as c ← c·beta + (1 − beta), exact where 1 − pow(beta, n) cancels.
const GRADIENT = 0x80000000u; // weights come before gradients
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
var<workgroup> sum_of: array<f32, 64>;
var<workgroup> culprit_of: array<u32, 64>;

fn bad(bits: u32) -> bool { return (bits & 0x7f800000u) == 0x7f800000u; }

fn over_tokens(stat: u32, lane: u32) -> f32 {
  var sum = 0.0;
  for (var i = lane; i < select(0u, shape.M * shape.T, stat >= shape.first_stat); i += 64u) {
    let row = minibatch[i / shape.T];
    if (row != 0xffffffffu) { sum += coefficients[((2u + stat) * shape.B + row) * shape.T + i % shape.T]; }
  }
  return sum;
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let g = group.x;
  var sum = 0.0;
  var culprit = 0xffffffffu;
  let first = 64u * shape.chunk * g;
  let end = select(0u, min(first + 64u * shape.chunk, shape.P), g < shape.groups);
  for (var i = first + lane; i < end; i += 64u) {
    var bits = grads[i];
    var finite = !bad(bits);
    if (shape.slabs > 1u) {
      for (var slab = 1u; slab < shape.slabs; slab++) {
        let more = grads[slab * shape.P + i];
        finite = finite && !bad(more);
        bits = bitcast<u32>(bitcast<f32>(bits) + bitcast<f32>(more));
      }
      grads[i] = bits;
    }
    let heavy = (weights[i] & 0x7fffffffu) > LARGEST;
    culprit = min(culprit, select(select(0xffffffffu, GRADIENT | i, !finite || bad(bits)), i, heavy));
    sum += bitcast<f32>(bits) * bitcast<f32>(bits);
  }
  if (g >= shape.groups) { sum = over_tokens(g - shape.groups, lane); }
  sum_of[lane] = sum;
  culprit_of[lane] = culprit;
  if (g == 0u && lane < 2u) {
    let beta = select(knobs.beta1, knobs.beta2, lane == 1u);
    var rest = bitcast<f32>(ledger[1u + lane]);
    // a restored optimizer brings its step count only
    for (var n = select(ledger[0], 0u, rest != 0.0) + 1u; n > 0u; n--) {
      rest = rest * beta + select(knobs.rest1, knobs.rest2, lane == 1u);
    }
    ledger[3u + lane] = bitcast<u32>(rest);
  }
  workgroupBarrier();
  if (lane > 0u) { return; }
  for (var i = 1u; i < 64u; i++) {
    sum += sum_of[i];
    culprit = min(culprit, culprit_of[i]);
  }
  sums[g] = bitcast<u32>(sum);
  sums[shape.groups + 8u + g] = culprit;
}
