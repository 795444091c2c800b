// language_head_backward: the gradient of the logits, written in place of the logits r.
//     From g = d total/d logprob and h = d total/d entropy of each token:
//     dr_v = (g·(1[v=y] − p_v) − h·p_v·(log p_v + entropy)) / temperature
// Shapes    record (B,T); grammar next (S,V), then stop (S); rows (M); scores (3, B, T) of language_head; coefficients
//           (12, B, T) of objective, of which the first is g and the last is h; logits (M·T, V): r, then dr.
// Parallel  LANES threads per (m,t), as in language_head; each owns every LANES-th logit. No shared memory.
// Numerics  f32. If g and h are 0, as for tokens outside all masks, dr is 0 and nothing is computed.
override LANES: u32 = 1u;
struct Shape { N: u32, V: u32, T: u32, B: u32 }
//! piece step_knobs
@group(0) @binding(0) var<storage, read> record: array<u32>;
@group(0) @binding(1) var<storage, read> grammar: array<i32>;
@group(0) @binding(2) var<storage, read> rows: array<u32>;
@group(0) @binding(3) var<storage, read> scores: array<f32>;
@group(0) @binding(4) var<storage, read> coefficients: array<f32>;
@group(0) @binding(5) var<storage, read_write> logits: array<f32>;
@group(0) @binding(6) var<uniform> knobs: Knobs;
@group(0) @binding(7) var<uniform> shape: Shape;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let n = (group.x + group.y * 65535u) * (64u / LANES) + thread / LANES;
  if (n >= shape.N) { return; }
  let row = rows[n / shape.T];
  let t = (n + 1u) % shape.T;
  let here = row != 0xffffffffu && t > 0u;
  let at = select(0u, row * shape.T + t, here);
  let all = shape.B * shape.T;
  let word = record[at];
  let y = word & 0xffffu;
  let legal = (word >> 24u) * shape.V;
  let entropy = scores[all + at];
  let lse = scores[2u * all + at];
  let g = coefficients[at] / knobs.temperature;
  let h = coefficients[11u * all + at] / knobs.temperature;
  let steep = here && (g != 0.0 || h != 0.0);
  for (var v = thread % LANES; v < shape.V; v += LANES) {
    let i = n * shape.V + v;
    let logp = select(logits[i] / knobs.temperature, -1e30, grammar[legal + v] < 0) - lse;
    let p = exp(logp);
    logits[i] = select(0.0, g * (f32(v == y) - p) - h * p * (logp + entropy), steep);
  }
}
