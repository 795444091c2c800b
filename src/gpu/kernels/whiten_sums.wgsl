// whiten_sums: number of a row's tokens in the whitening mask, and the sum of A − pivot over them. The pivot is the
//     first advantage of that mask in the batch
// Shapes    masks (6, B, T), of which the sixth is the whitening mask; credit (2, B, T), of which the first are the
//           advantages; sums (B, 5): score (unchanged), count, pivot, sum, squared deviations (unchanged).
// Parallel  one thread per row; each finds the pivot again. No shared memory.
// Numerics  f32. Because of the pivot, equal advantages differ from their mean by exactly 0. A rounding error of 1e-7
//           would become 1e-3, because whitening divides by at least 1e-4.
struct Shape { B: u32, T: u32 }
@group(0) @binding(0) var<storage, read> masks: array<f32>;
@group(0) @binding(1) var<storage, read> credit: array<f32>;
@group(0) @binding(2) var<storage, read_write> sums: array<f32>;
@group(0) @binding(3) var<uniform> shape: Shape;

@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let b = id.x;
  if (b >= shape.B) { return; }
  let all = shape.B * shape.T;
  var first = 0u;
  while (first < all && masks[5u * all + first] == 0.0) { first++; }
  var pivot = 0.0;
  if (first < all) { pivot = credit[first]; }
  var count = 0.0;
  var sum = 0.0;
  for (var t = 0u; t < shape.T; t++) {
    let at = b * shape.T + t;
    if (masks[5u * all + at] > 0.0) {
      count += 1.0;
      sum += credit[at] - pivot;
    }
  }
  sums[b * 5u + 1u] = count;
  sums[b * 5u + 2u] = pivot;
  sums[b * 5u + 3u] = sum;
}
