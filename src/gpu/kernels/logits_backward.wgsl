// logits_backward: dz_v = (g·(1[v=y] − p_v) − h·p_v·(log p_v + H)) / temperature, in place of the logits,
//     g = d(loss)/d(logprob), h = d(loss)/d(entropy) of token t + 1 of the row
// Shapes    record (B,T); rows (M); scores (3, B, T): logprob, entropy, lse; coefficients (3, B, T): g, a part
//           of it, h;
//           logits (M·T, V): tempered, masked logits in, gradients of the untempered logits out.
// Parallel  one thread per row and eight of its logits, as many apart as threads share the row: x walks V/8, y walks
//           M·T; each touches only its own. No shared memory.
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
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let n = id.y + id.z * 65532u;
  if (n >= shape.N) { return; }
  let row = rows[n / shape.T];
  let t = n % shape.T + 1u;
  let step = groups.x * 16u;
  var g = 0.0;
  var h = 0.0;
  let at = row * shape.T + t;
  let all = shape.B * shape.T;
  if (row != 0xffffffffu && t < shape.T) {
    g = coefficients[at];
    h = coefficients[2u * all + at];
  }
  if (g == 0.0 && h == 0.0) {
    for (var v = id.x; v < shape.V; v += step) { logits[n * shape.V + v] = 0.0; }
    return;
  }
  let token = record[at] & 0xffffu;
  let entropy = scores[all + at];
  let lse = scores[2u * all + at];
  for (var v = id.x; v < shape.V; v += step) {
    let logp = logits[n * shape.V + v] - lse;
    let p = exp(logp);
    logits[n * shape.V + v] = (g * (f32(v == token) - p) - h * p * (logp + entropy)) / knobs.temperature;
  }
}
