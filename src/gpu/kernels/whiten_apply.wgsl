// whiten_apply: A ← scale·(A − mean) / sqrt(var + 1e-8), with mean and var (n − 1) over the whitening mask;
//     all A are 0 if n < 2. Without `whiten`, A ← scale·A
// Shapes    record (B,T); groups (B), negative: the row is out of the batch; masks (6, B, T), of which the fifth is
//           the advantage mask; sums (B, 5): score, count, pivot, sum of A − pivot, squared deviations; credit
//           (2, B, T), of which the first are the advantages, changed in place.
// Parallel  one thread per row; each adds up the sums of all rows again. No shared memory.
// Numerics  f32. With `remask`, tokens outside the advantage mask become 0 again. Without it, every response token
//           outside the mask keeps −mean/std, as in Agent-R1 (2025) and verl. An advantage that is only rounding becomes
//           exactly 0: below 1e-5 standard deviations if whitened, else below 1e-6. Its sign would decide whether a
//           token counts as clipped.
struct Shape { B: u32, T: u32 }
//! piece credit_knobs
@group(0) @binding(0) var<storage, read> record: array<u32>;
@group(0) @binding(1) var<storage, read> groups: array<i32>;
@group(0) @binding(2) var<storage, read> masks: array<f32>;
@group(0) @binding(3) var<storage, read> sums: array<f32>;
@group(0) @binding(4) var<storage, read_write> credit: array<f32>;
@group(0) @binding(5) var<uniform> settings: Credit;
@group(0) @binding(6) var<uniform> shape: Shape;

@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let b = id.x;
  if (b >= shape.B) { return; }
  if (settings.whiten == 0.0) {
    for (var t = 0u; t < shape.T; t++) {
      let a = credit[b * shape.T + t];
      credit[b * shape.T + t] = select(a * settings.scale, 0.0, abs(a) < 1e-6);
    }
    return;
  }
  var count = 0.0;
  var sum = 0.0;
  var squares = 0.0;
  for (var i = 0u; i < shape.B; i++) {
    count += sums[i * 5u + 1u];
    sum += sums[i * 5u + 3u];
    squares += sums[i * 5u + 4u];
  }
  let mean = sums[b * 5u + 2u] + sum / max(count, 1.0);
  let factor = select(0.0, 1.0 / sqrt(squares / max(count - 1.0, 1.0) + 1e-8), count > 1.0);
  for (var t = 0u; t < shape.T; t++) {
    let at = b * shape.T + t;
    let response = ((record[at] >> 16u) & 3u) >= 2u && groups[b] >= 0;
    let kept = masks[4u * shape.B * shape.T + at] > 0.0 || (settings.remask == 0.0 && response);
    let a = (credit[at] - mean) * factor;
    credit[at] = select(a * settings.scale, 0.0, !kept || abs(a) < 1e-5);
  }
}
