// rmsnorm_forward_rowwise: inv = 1 / sqrt(mean_c x² + eps); xhat = x·inv; y = xhat·weight (barrier-free variant)
// Shapes    x, xhat, y (N,C); weight (C); inv (N).
// Parallel  one thread per row n; no shared memory, no barrier.
// Numerics  f32; squares are summed in index order. eps is inside the root, as in LlamaRMSNorm.
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

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let n = id.x;
  if (n >= shape.N) { return; }
  let base = n * shape.C;
  var squares = 0.0;
  for (var c = 0u; c < shape.C; c++) { let v = x[base + c]; squares += v * v; }
  let scale = 1.0 / sqrt(squares / f32(shape.C) + EPS);
  inv[n] = scale;
  for (var c = 0u; c < shape.C; c++) {
    let h = x[base + c] * scale;
    xhat[base + c] = Kept(h);
    y[base + c] = Kept(h * f32(weight[c]));
  }
}
