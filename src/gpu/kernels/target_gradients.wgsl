// target_gradients: the gradient of the logits, written in place of the logits r.
//     From g = d total/d logprob and h = d total/d entropy of target start + i:
//     dr_v = (g·(1[v=y] − p_v) − h·p_v·(log p_v + entropy)) / temperature
// Shapes    logits (N,V): r, then dr; targets, legal, scores as in target_scores; coefficients (·,2): g, h.
// Parallel  one thread per logit: x covers V, y covers N. No shared memory.
// Numerics  f32. Illegal tokens get 0, and so do all tokens of an empty target.
struct Shape { N: u32, V: u32, start: u32 }
//! piece temperature
@group(0) @binding(0) var<storage, read> targets: array<vec4u>;
@group(0) @binding(1) var<storage, read> legal: array<u32>;
@group(0) @binding(2) var<storage, read> scores: array<f32>;
@group(0) @binding(3) var<storage, read> coefficients: array<vec2f>;
@group(0) @binding(4) var<storage, read_write> logits: array<f32>;
@group(0) @binding(5) var<uniform> knobs: Temperature;
@group(0) @binding(6) var<uniform> shape: Shape;

@compute @workgroup_size(16, 4)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let v = id.x;
  if (v >= shape.V || id.y >= shape.N) { return; }
  let at = shape.start + id.y;
  let found = targets[at];
  let open = (legal[found.z * ((shape.V + 31u) / 32u) + v / 32u] >> (v % 32u)) & 1u;
  let i = id.y * shape.V + v;
  var sum = 0.0;
  if (found.x != 0xffffffffu && open == 1u) {
    let by = coefficients[at] / knobs.temperature;
    let logp = logits[i] / knobs.temperature - scores[3u * at + 2u];
    let p = exp(logp);
    sum = by.x * (f32(v == found.y) - p) - by.y * p * (logp + scores[3u * at + 1u]);
  }
  logits[i] = sum;
}
