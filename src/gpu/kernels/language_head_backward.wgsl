// language_head_backward: the gradient of the logits, written in place of the logits r.
//     From g = d total/d logprob and h = d total/d entropy of each token y after the node:
//     dr_v = Σ_y (g·(1[v=y] − p_v) − h·p_v·(log p_v + entropy)) / temperature
//     With TEACHER, and f = d total/d c, c = Σ_v p_v·log q_v: + f·p_v·(log q_v − c) / temperature
// Shapes    record (B,T); grammar next (S,V), then stop (S); targets (M) of (node, (B,T) index of y); starts (N + 1):
//           the targets of node n are those from starts[n] to starts[n+1] − 1; scores (4, B, T) of language_head;
//           coefficients (15, B, T) of objective, of which the first is g and the last two are h and f; teacher (B,T,V) as there;
//           logits (N,V): r, then dr.
// Parallel  LANES threads per node, as in language_head; each owns every LANES-th logit. No shared memory.
// Numerics  f32, tokens in order. If g and h are 0, as for tokens outside all masks, a token adds 0.
override LANES: u32 = 1u;
override TEACHER: u32 = 0u;
struct Shape { N: u32, V: u32, T: u32, B: u32 }
//! piece step_knobs
@group(0) @binding(0) var<storage, read> record: array<u32>;
@group(0) @binding(1) var<storage, read> grammar: array<i32>;
@group(0) @binding(2) var<storage, read> targets: array<vec2u>;
@group(0) @binding(3) var<storage, read> starts: array<u32>;
@group(0) @binding(4) var<storage, read> scores: array<f32>;
@group(0) @binding(5) var<storage, read> coefficients: array<f32>;
@group(0) @binding(6) var<storage, read> teacher: array<f32>;
@group(0) @binding(7) var<storage, read_write> logits: array<f32>;
@group(0) @binding(8) var<uniform> knobs: Knobs;
@group(0) @binding(9) var<uniform> shape: Shape;

struct Target { at: u32, y: u32, legal: u32, lse: f32, entropy: f32, taught: f32, g: f32, h: f32, f: f32 }

fn target_at(i: u32) -> Target {
  let at = targets[i].y;
  let all = shape.B * shape.T;
  let word = record[at];
  let by = vec3f(coefficients[at], coefficients[13u * all + at], coefficients[14u * all + at]) / knobs.temperature;
  return Target(at, word & 0xffffu, (word >> 24u) * shape.V, scores[2u * all + at], scores[all + at],
                scores[3u * all + at], by.x, by.y, by.z);
}

fn gradient(t: Target, r: f32, v: u32) -> f32 {
  let logp = select(r / knobs.temperature, -1e30, grammar[t.legal + v] < 0) - t.lse;
  let p = exp(logp);
  var pull = 0.0;
  if (TEACHER == 1u && t.f != 0.0) { pull = t.f * p * (teacher[t.at * shape.V + v] - t.taught); }
  return pull + select(0.0, t.g * (f32(v == t.y) - p) - t.h * p * (logp + t.entropy), t.g != 0.0 || t.h != 0.0);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let n = (group.x + group.y * 65535u) * (64u / LANES) + thread / LANES;
  if (n >= shape.N) { return; }
  let begin = starts[n];
  let end = starts[n + 1u];
  var first = Target(); // adds 0
  if (begin < end) { first = target_at(begin); }
  for (var v = thread % LANES; v < shape.V; v += LANES) {
    let i = n * shape.V + v;
    let r = logits[i];
    var sum = gradient(first, r, v);
    for (var j = begin + 1u; j < end; j++) { sum += gradient(target_at(j), r, v); }
    logits[i] = sum;
  }
}
