// head_scores: of the products r_v = hidden·weight_v: z_v = r_v / temperature, −1e30 where illegal;
//     lse = log sum_v e^{z_v}; logprob = z_y − lse; entropy = lse − sum_v p_v·z_v, y the next token of the row
// Shapes    logits (M·T, V), products in, tempered and masked out, V divisible by 4; record (B,T); grammar next (S,V)
//           then stop (S); rows (M); scores (3, B, T): logprob, entropy, lse of the token they speak of; index 0, pads
//           are 0.
// Parallel  one thread per (m,t), which scores token t + 1 of its row (the last position only tempers its logits). No
//           shared memory.
// Numerics  f32; one pass: maximum, sum and weighted sum are carried online and rescaled when the maximum grows.
struct Shape { N: u32, V: u32, T: u32, B: u32 }
struct Knobs { temperature: f32 }
@group(0) @binding(0) var<storage, read> record: array<u32>;
@group(0) @binding(1) var<storage, read> grammar: array<vec4i>;
@group(0) @binding(2) var<storage, read> rows: array<u32>;
@group(0) @binding(3) var<storage, read_write> logits: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> scores: array<f32>;
@group(0) @binding(5) var<uniform> knobs: Knobs;
@group(0) @binding(6) var<uniform> shape: Shape;

@compute @workgroup_size(16)
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
  let quarter = shape.V / 4u;
  let legal = (packed >> 24u) * quarter;
  var top = -1e30;
  var total = 0.0;
  var weighted = 0.0;
  var chosen = 0.0;
  for (var v = 0u; v < quarter; v++) {
    let z = select(logits[n * quarter + v] / knobs.temperature, vec4f(-1e30), grammar[legal + v] < vec4i());
    logits[n * quarter + v] = z;
    chosen += dot(select(vec4f(), z, vec4u(4u * v) + vec4u(0, 1, 2, 3) == vec4u(target_id)), vec4f(1.0));
    let higher = max(top, max(max(z.x, z.y), max(z.z, z.w)));
    let shrink = exp(top - higher);
    let e = exp(z - higher);
    total = total * shrink + dot(e, vec4f(1.0));
    weighted = weighted * shrink + dot(e, z);
    top = higher;
  }
  if (last) { return; }
  let lse = top + log(total);
  let real = ((packed >> 16u) & 3u) != 0u;
  let all = shape.B * shape.T;
  scores[at] = select(0.0, chosen - lse, real);
  scores[all + at] = select(0.0, lse - weighted / total, real);
  scores[2u * all + at] = select(0.0, lse, real);
}
