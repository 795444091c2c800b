// target_scores: from logits r_v: z_v = r_v/temperature, −1e30 if illegal; lse = log Σ_v e^{z_v}; logprob = z_y − lse;
//     entropy = lse − Σ_v p_v·z_v, p_v = e^{z_v − lse}, y the token of target start + i
// Shapes    logits (N,V); targets (·) of (node (0xffffffff: empty), token, state, 0); legal (states, ⌈V/32⌉), one bit
//           per token; scores (·,3): logprob, entropy, lse.
// Parallel  one workgroup of 256 threads per target; each thread takes every 256th logit. The partial results are
//           combined in shared memory: sixteen threads combine sixteen each, then all combine those, with two barriers.
// Numerics  f32; maximum, sum and weighted sum are carried online in a fixed order.
struct Shape { N: u32, V: u32, start: u32 }
//! piece temperature
@group(0) @binding(0) var<storage, read> logits: array<f32>;
@group(0) @binding(1) var<storage, read> targets: array<vec4u>;
@group(0) @binding(2) var<storage, read> legal: array<u32>;
@group(0) @binding(3) var<storage, read_write> scores: array<f32>;
@group(0) @binding(4) var<uniform> knobs: Temperature;
@group(0) @binding(5) var<uniform> shape: Shape;
var<workgroup> parts: array<vec4f, 256>; // maximum, sum, weighted sum, logit of y
var<workgroup> sixteenths: array<vec4f, 16>;

fn joined(a: vec4f, b: vec4f) -> vec4f {
  let top = max(a.x, b.x);
  return vec4f(top, a.yz * exp(a.x - top) + b.yz * exp(b.x - top), a.w + b.w);
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let n = group.x;
  let found = targets[shape.start + min(n, max(shape.N, 1u) - 1u)];
  let counts = n < shape.N && found.x != 0xffffffffu;
  let words = found.z * ((shape.V + 31u) / 32u);
  var own = vec4f(-1e30, 0.0, 0.0, 0.0);
  for (var v = thread; v < select(0u, shape.V, counts); v += 256u) {
    let open = (legal[words + v / 32u] >> (v % 32u)) & 1u;
    let z = select(-1e30, logits[n * shape.V + v] / knobs.temperature, open == 1u);
    let top = max(own.x, z);
    let shrink = exp(own.x - top);
    let e = exp(z - top);
    own = vec4f(top, own.yz * shrink + vec2f(e, e * z), select(own.w, z, v == found.y));
  }
  parts[thread] = own;
  workgroupBarrier();
  if (thread < 16u) {
    var sum = parts[thread * 16u];
    for (var i = 1u; i < 16u; i++) { sum = joined(sum, parts[thread * 16u + i]); }
    sixteenths[thread] = sum;
  }
  workgroupBarrier();
  if (thread > 0u || !counts) { return; }
  var sum = sixteenths[0];
  for (var i = 1u; i < 16u; i++) { sum = joined(sum, sixteenths[i]); }
  let lse = sum.x + log(sum.y);
  let to = (shape.start + n) * 3u;
  scores[to] = sum.w - lse;
  scores[to + 1u] = lse - sum.z / sum.y;
  scores[to + 2u] = lse;
}
