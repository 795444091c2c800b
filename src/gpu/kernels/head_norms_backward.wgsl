// head_norms_backward: the gradients of q and k before their norms, from those after them.
//     With s = 1/√(mean x² + eps) of a head x, w the norm's weight, and g the gradient of the norm's output:
//     dx = s·w·g − x·s³·mean_d(w·g·x). The sum of s·g·x over tokens and heads is the gradient of w
// Shapes    norms as in rotary; unnormed as in rotary: x, then s·g·x; dqkv (N,W), W = (H + 2·G)·D: g, then dx.
// Parallel  one thread per (n, head of q or k): x covers H + G, y covers N. No shared memory.
// Numerics  f32; the norm's sums are recomputed.
override EPS: f32 = 1e-5;
alias Weight = f32; // or f16
struct Shape { N: u32, H: u32, G: u32, D: u32, k_norm: u32, k_at: u32 }
@group(0) @binding(0) var<storage, read> norms: array<Weight>;
@group(0) @binding(1) var<storage, read_write> unnormed: array<f32>;
@group(0) @binding(2) var<storage, read_write> dqkv: array<f32>;
@group(0) @binding(3) var<uniform> shape: Shape;

//! piece head_norms

@compute @workgroup_size(16, 4)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let n = id.y + id.z * 65532u;
  let head = id.x;
  if (head >= shape.H + shape.G || n >= shape.N) { return; }
  let D = shape.D;
  let at = (n * (shape.H + 2u * shape.G) + head) * D;
  let x = unnormed_at(n, head);
  let weight = norm_at(head);
  var squares = 0.0;
  var along = 0.0; // dot product of w·g and x
  for (var d = 0u; d < D; d++) {
    squares += unnormed[x + d] * unnormed[x + d];
    along += f32(norms[weight + d]) * dqkv[at + d] * unnormed[x + d];
  }
  let scale = 1.0 / sqrt(squares / f32(D) + EPS);
  let back = scale * scale * scale * along / f32(D);
  for (var d = 0u; d < D; d++) {
    let g = dqkv[at + d];
    dqkv[at + d] = scale * f32(norms[weight + d]) * g - back * unnormed[x + d];
    unnormed[x + d] = scale * g * unnormed[x + d];
  }
}
