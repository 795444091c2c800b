// adamw: closes an optimizer step, with c the maximum gradient norm (Loshchilov & Hutter, arXiv 1711.05101):
//     g ← min(1, c / (norm + 1e-6))·grad;  m ← beta1·m + (1 − beta1)·g;  v ← beta2·v + (1 − beta2)·g²;
//     w ← w − lr·decay·w − lr·(m / (1 − beta1^n)) / (sqrt(v / (1 − beta2^n)) + eps).
//     It also writes the line of the step in the log. A step is skipped if a gradient or weight is not finite, or if
//     there is no token to learn from. With P 0 only the log line is written: the step is measured, not taken.
// Shapes    weights, grads, first (m) and second (v): (P), with one layout; tensors before `decayed` take weight decay.
//           sums: (2, groups) of gradient_norm, then at stats_at the 10 statistics of step_stats. ledger, the state of
//           the optimizer: five words as in adam_corrections; at log_at the log (slots, 16), with a line's words being
//           the 10 statistics, norm, skip (1 empty, 2 non-finite), culprit (1 weight, 2 gradient) and the culprit's
//           index in weights or grads.
// Parallel  one workgroup per stretch of 64·chunk elements; each of its 64 threads takes every 64th element. Each
//           thread adds up the sums of all groups again, in order, which is cheaper than one more dispatch. The first
//           workgroup writes the ledger. No shared memory.
// Numerics  f32. A skipped step changes nothing but the log. SHADOW 1 also rounds the weights to the f16 copy that
//           products read.
alias Weight = f32; // or f16
const GRADIENT = 0x80000000u; // see gradient_norm
override SHADOW: u32 = 0; // 1: writes the f16 copy; 0: another tensor is bound in its place
struct Shape { P: u32, decayed: u32, groups: u32, chunk: u32, log_at: u32, stats_at: u32 }
//! piece step_knobs
@group(0) @binding(0) var<storage, read_write> weights: array<f32>;
@group(0) @binding(1) var<storage, read> grads: array<f32>;
@group(0) @binding(2) var<storage, read_write> first: array<f32>;
@group(0) @binding(3) var<storage, read_write> second: array<f32>;
@group(0) @binding(4) var<storage, read_write> shadow: array<Weight>;
@group(0) @binding(5) var<storage, read> sums: array<u32>;
@group(0) @binding(6) var<storage, read_write> ledger: array<u32>;
@group(0) @binding(7) var<uniform> knobs: Knobs;
@group(0) @binding(8) var<uniform> shape: Shape;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  var squares = 0.0;
  var culprit = 0xffffffffu;
  for (var g = 0u; g < shape.groups; g++) {
    squares += bitcast<f32>(sums[g]);
    culprit = min(culprit, sums[shape.groups + g]);
  }
  let tokens = bitcast<f32>(sums[shape.stats_at + 9u]);
  var word = sums[shape.stats_at + min(lane, 9u)]; // the word of the log line that this lane writes
  let norm = sqrt(squares);
  let finite = norm < 3e38 && culprit == 0xffffffffu;
  let skip = select(2u, u32(tokens == 0.0), finite);
  let advances = skip == 0u && shape.P > 0u;
  if (group.x == 0u && lane < select(14u, 17u, advances)) {
    if (lane == 10u) { word = bitcast<u32>(norm); }
    if (lane == 11u) { word = skip; }
    if (lane == 12u && culprit != 0xffffffffu) { word = 1u + culprit / GRADIENT; }
    if (lane == 13u) { word = select(culprit % GRADIENT, culprit, culprit == 0xffffffffu); }
    if (lane > 13u) { word = ledger[select(lane - 12u, 0u, lane == 14u)] + u32(lane == 14u); }
    ledger[select(shape.log_at + u32(knobs.slot) * 16u + lane, lane - 14u, lane > 13u)] = word;
  }
  if (!advances) { return; }
  let scale = min(1.0, knobs.max_grad_norm / (norm + 1e-6));
  let rest = vec2f(bitcast<f32>(ledger[3]), bitcast<f32>(ledger[4]));
  let start = 64u * shape.chunk * group.x + lane;
  for (var i = start; i < min(start + 64u * shape.chunk, shape.P); i += 64u) {
    let g = grads[i] * scale;
    let m = knobs.beta1 * first[i] + knobs.rest1 * g;
    let v = knobs.beta2 * second[i] + knobs.rest2 * g * g;
    first[i] = m;
    second[i] = v;
    let w = weights[i];
    let decay = select(0.0, knobs.weight_decay, i < shape.decayed);
    let step = (m / rest.x) / (sqrt(v / rest.y) + knobs.adam_eps);
    let next = w - knobs.learning_rate * (decay * w + step);
    weights[i] = next;
    if (SHADOW == 1u) { shadow[i] = Weight(next); }
  }
}
