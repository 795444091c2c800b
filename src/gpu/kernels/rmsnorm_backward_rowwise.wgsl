// rmsnorm_backward_rowwise: dx (+)= inv·(g − xhat·mean_c(g·xhat)), g = dy·weight (barrier-free variant)
// Shapes    dy, xhat, y, dx (N,C); weight (C); inv (N).
// Parallel  one thread per row n; no shared memory, no barrier.
// Numerics  f32; the mean is summed in index order. add 1 adds to dx (a residual stream), 0 replaces it;
//           output 1 also stores y = xhat·weight, which a norm applied on load has not left behind. One pipeline.
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

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let n = id.x;
  if (n >= shape.N) { return; }
  let base = n * shape.C;
  var dot = 0.0;
  for (var c = 0u; c < shape.C; c++) { dot += dy[base + c] * f32(weight[c]) * f32(xhat[base + c]); }
  let mean = dot / f32(shape.C);
  let scale = inv[n];
  for (var c = 0u; c < shape.C; c++) {
    let h = f32(xhat[base + c]);
    let w = f32(weight[c]);
    let g = scale * (dy[base + c] * w - h * mean);
    dx[base + c] = g + select(0.0, dx[base + c], shape.add == 1u);
    if (shape.output == 1u) { y[base + c] = Kept(h * w); }
  }
}
