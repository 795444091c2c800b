// logits_backward: dz_v = (g·(1[v=y] − p_v) − h·p_v·(log p_v + H)) / temperature, in place of the logits,
//     g = d(loss)/d(logprob), h = d(loss)/d(entropy) of token t + 1 of the row
// Shapes    record (B,T); rows (M); scores (3, B, T): logprob, entropy, lse; coefficients (3, B, T): g, a part
//           of it, h;
//           logits (M·T, V): tempered, masked logits in, gradients of the untempered logits out.
// Parallel  one thread per logit: x walks V, y walks M·T; each touches only its own. No shared memory.
// Numerics  f32; p = e^{z − lse} never overflows; the row sums to 0 up to rounding. Last positions, pads and rows of
//           none get 0.
struct Shape { N: u32, V: u32, T: u32, B: u32 }
struct Knobs { temperature: f32 }
@group(0) @binding(0) var<storage, read> record: array<u32>;
@group(0) @binding(1) var<storage, read> rows: array<u32>;
@group(0) @binding(2) var<storage, read> scores: array<f32>;
@group(0) @binding(3) var<storage, read> coefficients: array<f32>;
@group(0) @binding(4) var<storage, read_write> logits: array<f32>;
@group(0) @binding(5) var<uniform> knobs: Knobs;
@group(0) @binding(6) var<uniform> shape: Shape;

@compute @workgroup_size(16, 4)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let v = id.x;
  let n = id.y + id.z * 65532u;
  if (v >= shape.V || n >= shape.N) { return; }
  let row = rows[n / shape.T];
  let t = n % shape.T + 1u;
  let slot = n * shape.V + v;
  if (row == 0xffffffffu || t >= shape.T) {
    logits[slot] = 0.0;
    return;
  }
  let at = row * shape.T + t;
  let all = shape.B * shape.T;
  let g = coefficients[at];
  let h = coefficients[2u * all + at];
  if (g == 0.0 && h == 0.0) {
    logits[slot] = 0.0;
    return;
  }
  let logp = logits[slot] - scores[2u * all + at];
  let p = exp(logp);
  let hit = f32(v == (record[at] & 0xffffu));
  logits[slot] = (g * (hit - p) - h * p * (logp + scores[all + at])) / knobs.temperature;
}
