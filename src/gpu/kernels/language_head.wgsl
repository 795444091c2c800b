// language_head: from products r_v = hidden·weight_v of a node: z_v = r_v / temperature, −1e30 if illegal;
//     lse = log Σ_v e^{z_v}; logprob = z_y − lse; entropy = lse − Σ_v p_v·z_v, p_v = e^{z_v − lse}, y a token after it.
//     With TEACHER also Σ_v p_v·log q_v of a teacher's distribution q
// Shapes    record (B,T); grammar next (S,V), then stop (S); targets (M) of (node, (B,T) index of y), 0xffffffff: none;
//           logits (N,V): r; teacher (B,T,V): log q, 0 if illegal, read with TEACHER; scores (4, B, T): logprob, entropy, lse,
//           Σ_v p_v·log q_v.
// Parallel  LANES threads per target. Each thread owns every LANES-th logit. With more than one lane, their partial
//           results are combined in shared memory after a barrier.
// Numerics  f32; maximum, sum and weighted sum are carried online in a fixed order.
override LANES: u32 = 1u;
override TEACHER: u32 = 0u;
struct Shape { M: u32, V: u32, T: u32, B: u32 }
//! piece step_knobs
@group(0) @binding(0) var<storage, read> record: array<u32>;
@group(0) @binding(1) var<storage, read> grammar: array<i32>;
@group(0) @binding(2) var<storage, read> targets: array<vec2u>;
@group(0) @binding(3) var<storage, read> logits: array<f32>;
@group(0) @binding(4) var<storage, read> teacher: array<f32>;
@group(0) @binding(5) var<storage, read_write> scores: array<f32>;
@group(0) @binding(6) var<uniform> knobs: Knobs;
@group(0) @binding(7) var<uniform> shape: Shape;
var<workgroup> part: array<vec4f, 64>; // maximum, sum, weighted sum, logit of y
var<workgroup> taught_part: array<f32, 64>; // Σ e^{z − maximum}·log q

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let m = (group.x + group.y * 65535u) * (64u / LANES) + thread / LANES;
  let lane = thread % LANES;
  let found = targets[min(m, shape.M - 1u)];
  let counts = m < shape.M && found.x != 0xffffffffu;
  let at = select(0u, found.y, counts);
  let word = record[at];
  let y = word & 0xffffu;
  let legal = (word >> 24u) * shape.V;
  var sum = vec4f(-1e30, 0.0, 0.0, 0.0);
  var taught = 0.0;
  for (var v = lane; v < select(0u, shape.V, counts); v += LANES) {
    let z = select(logits[found.x * shape.V + v] / knobs.temperature, -1e30, grammar[legal + v] < 0);
    let top = max(sum.x, z);
    let shrink = exp(sum.x - top);
    let e = exp(z - top);
    sum = vec4f(top, sum.yz * shrink + vec2f(e, e * z), select(sum.w, z, v == y));
    if (TEACHER == 1u) { taught = taught * shrink + e * teacher[at * shape.V + v]; }
  }
  if (LANES > 1u) {
    part[thread] = sum;
    taught_part[thread] = taught;
    workgroupBarrier();
    sum = part[thread - lane];
    taught = taught_part[thread - lane];
    for (var i = 1u; i < LANES; i++) {
      let other = part[thread - lane + i];
      let top = max(sum.x, other.x);
      taught = taught * exp(sum.x - top) + taught_part[thread - lane + i] * exp(other.x - top);
      sum = vec4f(top, sum.yz * exp(sum.x - top) + other.yz * exp(other.x - top), sum.w + other.w);
    }
  }
  if (!counts || lane > 0u) { return; }
  let all = shape.B * shape.T;
  let lse = sum.x + log(sum.y);
  scores[at] = sum.w - lse;
  scores[all + at] = lse - sum.z / sum.y;
  scores[2u * all + at] = lse;
  scores[3u * all + at] = taught / sum.y;
}
