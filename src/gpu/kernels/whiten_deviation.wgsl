// whiten_deviation: sum over a row's tokens in the whitening mask of (A − mean)², with the mean over that mask in the
//     whole batch
// Shapes    masks (6, B, T), of which the sixth is the whitening mask; credit (2, B, T), of which the first are the
//           advantages; sums (B, 5): score, count, pivot, sum of A − pivot (read), squared deviations (written).
// Parallel  one thread per row; each adds up the sums of all rows again. No shared memory.
// Numerics  f32; the mean is known before the deviations are summed, so nothing cancels.
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
    count += sums[i * 5u + 1u];
    sum += sums[i * 5u + 3u];
  }
  let mean = sums[b * 5u + 2u] + sum / max(count, 1.0);
  var squares = 0.0;
  for (var t = 0u; t < shape.T; t++) {
    let at = b * shape.T + t;
    if (masks[5u * shape.B * shape.T + at] > 0.0) {
      let d = credit[at] - mean;
      squares += d * d;
    }
  }
  sums[b * 5u + 4u] = squares;
}
