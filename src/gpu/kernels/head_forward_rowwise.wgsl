// head_forward_rowwise: z_v = (hidden·weight_v) / temperature, −1e30 where illegal; lse = log sum_v e^{z_v};
//     logprob = z_y − lse; entropy = lse − sum_v p_v·z_v, y the next token of the row (barrier-free variant)
// Shapes    hidden (M·T, C); weight (V,C); record (B,T); grammar next (S,V) then stop (S); rows (M); logits (M·T, V);
//           scores (3, B, T): logprob, entropy, lse of the token they speak of; index 0 and pads are 0.
// Parallel  one thread per (m,t), which scores token t + 1 of its row (the last position only gets logits); four logits
//           at a time in registers.
// Numerics  f32; one pass: maximum, sum and weighted sum are carried online and rescaled when the maximum grows.
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

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let n = id.x;
  if (n >= shape.N) { return; }
  let row = rows[n / shape.T];
  let t = n % shape.T + 1u;
  if (row == 0xffffffffu) { return; }
  let last = t >= shape.T;
  let at = row * shape.T + select(t, 0u, last);
  let packed = select(record[at], 0u, last);
  let target_id = packed & 0xffffu;
  let legal = (packed >> 24u) * shape.V;
  var top = -1e30;
  var total = 0.0;
  var weighted = 0.0;
  var chosen = 0.0;
  for (var v = 0u; v < shape.V; v += 4u) {
    let lane = min(vec4u(v) + vec4u(0, 1, 2, 3), vec4u(shape.V - 1u));
    let base = lane * shape.C;
    var z4 = vec4f();
    for (var c = 0u; c < shape.C; c++) {
      let w = vec4(weight[base.x + c], weight[base.y + c], weight[base.z + c], weight[base.w + c]);
      z4 += f32(hidden[n * shape.C + c]) * vec4f(w);
    }
    for (var d = 0u; d < min(4u, shape.V - v); d++) {
      var z = z4[d] / knobs.temperature;
      if (grammar[legal + v + d] < 0) { z = -1e30; }
      logits[n * shape.V + v + d] = z;
      if (v + d == target_id) { chosen = z; }
      let higher = max(top, z);
      let shrink = exp(top - higher);
      let e = exp(z - higher);
      total = total * shrink + e;
      weighted = weighted * shrink + e * z;
      top = higher;
    }
  }
  if (last) { return; }
  let lse = top + log(total);
  let real = ((packed >> 16u) & 3u) != 0u;
  let all = shape.B * shape.T;
  scores[at] = select(0.0, chosen - lse, real);
  scores[all + at] = select(0.0, lse - weighted / total, real);
  scores[2u * all + at] = select(0.0, lse, real);
}
