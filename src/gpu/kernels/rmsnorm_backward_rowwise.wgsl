// rmsnorm_backward_rowwise: dx (+)= inv·(g − xhat·mean_c(g·xhat)), g = dy·weight
//     (barrier-free variant, for C a multiple of 4)
// Shapes    dy, xhat, y, dx (N,C); weight (C); inv (N).
// Parallel  one thread per row n; no shared memory, no barrier.
// Numerics  f32; the mean is four sums in index order. add 1 adds to dx (a residual stream), 0 replaces it. output 1
//           also stores y = xhat·weight, for forward passes that applied the norm on load and did not store y. One
//           pipeline for all cases.
// Why       a thread loads four scalars at a time. Neighbouring threads are a row apart, so their loads cannot be
//           combined.
alias Weight = f32; // or f16
alias Kept = f32; // or f16
struct Shape { N: u32, C: u32, add: u32, output: u32 }
@group(0) @binding(0) var<storage, read> dy: array<vec4f>;
@group(0) @binding(1) var<storage, read> xhat: array<vec4<Kept>>;
@group(0) @binding(2) var<storage, read> weight: array<vec4<Weight>>;
@group(0) @binding(3) var<storage, read> inv: array<f32>;
@group(0) @binding(4) var<storage, read_write> dx: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> y: array<vec4<Kept>>;
@group(0) @binding(6) var<uniform> shape: Shape;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let n = id.x;
  if (n >= shape.N) { return; }
  let columns = shape.C / 4u;
  let base = n * columns;
  let scale = inv[n];
  var dots = vec4f();
  var mean = 0.0;
  // Both passes share their loads, because each load in the code takes time to compile. The bound comes from the shape,
  // so that the compiler does not unroll the loop.
  for (var turn = 0u; turn < min(2u, shape.C); turn++) {
    for (var c = 0u; c < columns; c++) {
      let h = vec4f(xhat[base + c]);
      let w = vec4f(weight[c]);
      let g = dy[base + c] * w;
      dots += g * h;
      if (turn == 1u) {
        let d = scale * (g - h * mean);
        dx[base + c] = d + select(vec4f(), dx[base + c], shape.add == 1u);
        if (shape.output == 1u) { y[base + c] = vec4<Kept>(h * w); }
      }
    }
    mean = (dots.x + dots.y + dots.z + dots.w) / f32(shape.C);
  }
}
