// adamw: g ← scale·g; m ← beta1·m + (1 − beta1)·g; v ← beta2·v + (1 − beta2)·g²;
//     w ← w − lr·decay·w − lr·(m / (1 − beta1^n)) / (sqrt(v / (1 − beta2^n)) + eps)     (Loshchilov & Hutter, arXiv
//     1711.05101)
// Shapes    weights, grads, m, v (P), one layout, tensors that decay before `decayed`; control (8) of step_finish.
// Parallel  one thread per scalar; y continues x past 65,535 workgroups. No shared memory.
// Numerics  f32. A skipped step changes nothing. SHADOW 1 also rounds the weights to the copy that products read.
alias Weight = f32; // or f16
override SHADOW: u32 = 0; // else its binding is a stand-in
struct Shape { P: u32, decayed: u32 }
struct Knobs {
  temperature: f32, aggregation: f32, plain: f32, clip_low: f32, clip_high: f32, dual_clip: f32,
  kl_estimator: f32, kl_coef: f32, entropy_coef: f32, value_coef: f32, value_clip: f32,
  learning_rate: f32, beta1: f32, rest1: f32, beta2: f32, rest2: f32, adam_eps: f32, weight_decay: f32,
  max_grad_norm: f32, slot: f32,
}
@group(0) @binding(0) var<storage, read_write> weights: array<f32>;
@group(0) @binding(1) var<storage, read> grads: array<f32>;
@group(0) @binding(2) var<storage, read_write> first: array<f32>;
@group(0) @binding(3) var<storage, read_write> second: array<f32>;
@group(0) @binding(4) var<storage, read_write> shadow: array<Weight>;
@group(0) @binding(5) var<storage, read> control: array<u32>;
@group(0) @binding(6) var<uniform> knobs: Knobs;
@group(0) @binding(7) var<uniform> shape: Shape;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let i = id.x + id.y * 4194240u;
  if (i >= shape.P || control[1] != 0u) { return; }
  let g = grads[i] * bitcast<f32>(control[0]);
  let m = knobs.beta1 * first[i] + knobs.rest1 * g;
  let v = knobs.beta2 * second[i] + knobs.rest2 * g * g;
  first[i] = m;
  second[i] = v;
  let w = weights[i];
  let decay = select(0.0, knobs.weight_decay, i < shape.decayed);
  let step = (m / bitcast<f32>(control[3])) / (sqrt(v / bitcast<f32>(control[4])) + knobs.adam_eps);
  let next = w - knobs.learning_rate * (decay * w + step);
  weights[i] = next;
  if (SHADOW == 1u) { shadow[i] = Weight(next); }
}
