// whiten_deviation: sum over a row's masked tokens of (A − mean)², mean over the mask of the whole batch
// Shapes    masks (2, B, T), the second the advantage mask; credit (2, B, T), the first the advantages;
//           sums (B, 4): count, sum (read), squared deviations (written).
// Parallel  one thread per row; each adds up the rows' sums again. No shared memory.
// Numerics  f32; two passes, so no cancellation.
struct Shape { B: u32, T: u32 }
@group(0) @binding(0) var<storage, read> masks: array<f32>;
@group(0) @binding(1) var<storage, read> credit: array<f32>;
@group(0) @binding(2) var<storage, read_write> sums: array<f32>;
@group(0) @binding(3) var<uniform> shape: Shape;

@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let b = id.x;
  if (b >= shape.B) { return; }
  var count = 0.0;
  var sum = 0.0;
  for (var i = 0u; i < shape.B; i++) {
    count += sums[i * 4u];
    sum += sums[i * 4u + 1u];
  }
  let mean = sum / max(count, 1.0);
  var squares = 0.0;
  for (var t = 0u; t < shape.T; t++) {
    let at = b * shape.T + t;
    if (masks[shape.B * shape.T + at] > 0.0) {
      let d = credit[at] - mean;
      squares += d * d;
    }
  }
  sums[b * 4u + 2u] = squares;
}
