// rmsnorm_forward: inv = 1 / sqrt(mean_c x² + eps); xhat = x·inv; y = xhat·weight
// Shapes    x, xhat, y (N,C); weight (C); inv (N).
// Parallel  one workgroup of 64 threads per row n; thread i owns columns i, i + 64, …. The squares are summed as a tree
//           in shared memory, with a barrier for each halving.
// Numerics  f32; the tree is always the same, and so are the bits. eps is inside the root, as in LlamaRMSNorm.
override EPS: f32 = 1e-5;
alias Weight = f32; // or f16
alias Kept = f32; // or f16
struct Shape { N: u32, C: u32 }
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> weight: array<Weight>;
@group(0) @binding(2) var<storage, read_write> xhat: array<Kept>;
@group(0) @binding(3) var<storage, read_write> y: array<Kept>;
@group(0) @binding(4) var<storage, read_write> inv: array<f32>;
@group(0) @binding(5) var<uniform> shape: Shape;
var<workgroup> part: array<f32, 64>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let n = group.x + group.y * 65535u;
  let stray = n >= shape.N;
  let base = select(n, 0u, stray) * shape.C;
  var squares = 0.0;
  for (var c = lane; c < shape.C; c += 64u) { let v = x[base + c]; squares += v * v; }
  part[lane] = squares;
  workgroupBarrier();
  for (var width = 32u; width > 0u; width >>= 1u) {
    if (lane < width) { part[lane] += part[lane + width]; }
    workgroupBarrier();
  }
  if (stray) { return; }
  let scale = 1.0 / sqrt(part[0] / f32(shape.C) + EPS);
  if (lane == 0u) { inv[n] = scale; }
  for (var c = lane; c < shape.C; c += 64u) {
    let h = x[base + c] * scale;
    xhat[base + c] = Kept(h);
    y[base + c] = Kept(h * f32(weight[c]));
  }
}
