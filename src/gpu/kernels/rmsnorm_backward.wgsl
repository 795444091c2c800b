// rmsnorm_backward: dx (+)= inv·(g − xhat·mean_c(g·xhat)), g = dy·weight
// Shapes    dy, xhat, y, dx (N,C); weight (C); inv (N).
// Parallel  one workgroup of 64 threads per row n; thread i owns columns i, i + 64, …. The mean is summed as a tree in
//           shared memory, with a barrier for each halving.
// Numerics  f32; the tree is always the same. add 1 adds to dx (a residual stream), 0 replaces it. output 1 also stores
//           y = xhat·weight, for forward passes that applied the norm on load and did not store y. One pipeline for all
//           cases.
alias Weight = f32; // or f16
alias Kept = f32; // or f16
struct Shape { N: u32, C: u32, add: u32, output: u32 }
@group(0) @binding(0) var<storage, read> dy: array<f32>;
@group(0) @binding(1) var<storage, read> xhat: array<Kept>;
@group(0) @binding(2) var<storage, read> weight: array<Weight>;
@group(0) @binding(3) var<storage, read> inv: array<f32>;
@group(0) @binding(4) var<storage, read_write> dx: array<f32>;
@group(0) @binding(5) var<storage, read_write> y: array<Kept>;
@group(0) @binding(6) var<uniform> shape: Shape;
var<workgroup> part: array<f32, 64>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let n = group.x + group.y * 65535u;
  let stray = n >= shape.N;
  let base = select(n, 0u, stray) * shape.C;
  var dot = 0.0;
  for (var c = lane; c < shape.C; c += 64u) { dot += dy[base + c] * f32(weight[c]) * f32(xhat[base + c]); }
  part[lane] = dot;
  workgroupBarrier();
  for (var width = 32u; width > 0u; width >>= 1u) {
    if (lane < width) { part[lane] += part[lane + width]; }
    workgroupBarrier();
  }
  if (stray) { return; }
  let mean = part[0] / f32(shape.C);
  let scale = inv[n];
  for (var c = lane; c < shape.C; c += 64u) {
    let h = f32(xhat[base + c]);
    let w = f32(weight[c]);
    let g = scale * (dy[base + c] * w - h * mean);
    dx[base + c] = g + select(0.0, dx[base + c], shape.add == 1u);
    if (shape.output == 1u) { y[base + c] = Kept(h * w); }
  }
}
