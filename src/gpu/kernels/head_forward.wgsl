// head_forward: z_v = (hidden·weight_v) / temperature, −1e30 where illegal; lse = log sum_v e^{z_v};
//     logprob = z_y − lse; entropy = lse − sum_v p_v·z_v, y the next token of the row
// Shapes    hidden (M·T, C); weight (V,C); record (B,T); grammar next (S,V) then stop (S); rows (M); logits (M·T, V);
//           scores (3, B, T): logprob, entropy, lse of the token they speak of; index 0 and pads are 0.
// Parallel  one workgroup of 64 threads per (m,t), which scores token t + 1 of its row (the last position only gets
//           logits); thread i owns logits i, i + 64, …; maximum, sum and weighted sum of the threads meet in a tree in
//           shared memory, a barrier at each halving.
// Numerics  f32; one pass: each thread carries the three online, the tree rescales to the common maximum; fixed order.
alias Kept = f32; // or f16
alias Weight = f32; // or f16
struct Shape { N: u32, C: u32, V: u32, T: u32, B: u32 }
struct Knobs { temperature: f32 }
@group(0) @binding(0) var<storage, read> hidden: array<Kept>;
@group(0) @binding(1) var<storage, read> weight: array<Weight>;
@group(0) @binding(2) var<storage, read> record: array<u32>;
@group(0) @binding(3) var<storage, read> grammar: array<i32>;
@group(0) @binding(4) var<storage, read> rows: array<u32>;
@group(0) @binding(5) var<storage, read_write> logits: array<f32>;
@group(0) @binding(6) var<storage, read_write> scores: array<f32>;
@group(0) @binding(7) var<uniform> knobs: Knobs;
@group(0) @binding(8) var<uniform> shape: Shape;
var<workgroup> part: array<vec4f, 64>; // maximum, sum, weighted sum, logit of y

fn join(p: vec4f, q: vec4f) -> vec4f {
  let top = max(p.x, q.x);
  let a = exp(p.x - top);
  let b = exp(q.x - top);
  return vec4f(top, p.y * a + q.y * b, p.z * a + q.z * b, p.w + q.w);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let n = group.x + group.y * 65535u;
  let inside = n < shape.N;
  let row = rows[select(0u, n / shape.T, inside)];
  let t = n % shape.T + 1u;
  let counts = inside && row != 0xffffffffu;
  let last = t >= shape.T;
  let at = select(0u, row * shape.T + t, counts && !last);
  let packed = select(record[at], 0u, last);
  let target_id = packed & 0xffffu;
  let legal = (packed >> 24u) * shape.V;
  var mine = vec4f(-1e30, 0.0, 0.0, 0.0);
  if (counts) {
    for (var v = lane; v < shape.V; v += 64u) {
      var z = 0.0;
      for (var c = 0u; c < shape.C; c++) { z += f32(hidden[n * shape.C + c]) * f32(weight[v * shape.C + c]); }
      z /= knobs.temperature;
      if (grammar[legal + v] < 0) { z = -1e30; }
      logits[n * shape.V + v] = z;
      mine = join(mine, vec4f(z, 1.0, z, select(0.0, z, v == target_id)));
    }
  }
  part[lane] = mine;
  workgroupBarrier();
  for (var width = 32u; width > 0u; width >>= 1u) {
    if (lane < width) { part[lane] = join(part[lane], part[lane + width]); }
    workgroupBarrier();
  }
  if (lane > 0u || !counts || last) { return; }
  let sum = part[0];
  let lse = sum.x + log(sum.y);
  let real = ((packed >> 16u) & 3u) != 0u;
  let all = shape.B * shape.T;
  scores[at] = select(0.0, sum.w - lse, real);
  scores[all + at] = select(0.0, lse - sum.z / sum.y, real);
  scores[2u * all + at] = select(0.0, lse, real);
}
