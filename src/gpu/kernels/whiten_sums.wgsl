// whiten_sums: count of a row's tokens in the whitening mask, and sum over them of A − pivot, the pivot being the first
//     advantage of that mask in the batch
// Shapes    masks (5, B, T), the fifth the whitening mask; credit (2, B, T), the first the advantages; sums (B, 5):
//           score (left alone), count, pivot, sum, squared deviations (left alone).
// Parallel  one thread per row; each looks the pivot up again. No shared memory.
// Numerics  f32. The pivot makes equal advantages differ from their mean by exactly 0: a rounding of 1e-7 over the
//           1e-4 that whitening adds to no deviation at all would be 1e-3.
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
  while (first < all && masks[4u * all + first] == 0.0) { first++; }
  var pivot = 0.0;
  if (first < all) { pivot = credit[first]; }
  var count = 0.0;
  var sum = 0.0;
  for (var t = 0u; t < shape.T; t++) {
    let at = b * shape.T + t;
    if (masks[4u * all + at] > 0.0) {
      count += 1.0;
      sum += credit[at] - pivot;
    }
  }
  sums[b * 5u + 1u] = count;
  sums[b * 5u + 2u] = pivot;
  sums[b * 5u + 3u] = sum;
}
