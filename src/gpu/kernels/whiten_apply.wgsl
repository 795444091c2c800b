// whiten_apply: A ← (A − mean) / sqrt(var + 1e-8) on the advantage mask, var with n − 1; 0 outside it, and 0 where n
//     < 2
// Shapes    masks (2, B, T), the second the advantage mask; sums (B, 4): count, sum, squared deviations;
//           credit (2, B, T), the first the advantages, in place.
// Parallel  one thread per row; each adds up the rows' sums again. No shared memory.
// Numerics  f32. Masked again after the shift: tokens outside would else hold −mean/std (the Agent-R1 and verl habit).
struct Shape { B: u32, T: u32 }
struct Credit { gamma: f32, lambda: f32, divide_by_std: f32, whiten: f32, loss_mask: f32, advantage_mask: f32 }
@group(0) @binding(0) var<storage, read> masks: array<f32>;
@group(0) @binding(1) var<storage, read> sums: array<f32>;
@group(0) @binding(2) var<storage, read_write> credit: array<f32>;
@group(0) @binding(3) var<uniform> settings: Credit;
@group(0) @binding(4) var<uniform> shape: Shape;

@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let b = id.x;
  if (b >= shape.B || settings.whiten == 0.0) { return; }
  var count = 0.0;
  var sum = 0.0;
  var squares = 0.0;
  for (var i = 0u; i < shape.B; i++) {
    count += sums[i * 4u];
    sum += sums[i * 4u + 1u];
    squares += sums[i * 4u + 2u];
  }
  let mean = sum / max(count, 1.0);
  let scale = select(0.0, 1.0 / sqrt(squares / max(count - 1.0, 1.0) + 1e-8), count > 1.0);
  for (var t = 0u; t < shape.T; t++) {
    let at = b * shape.T + t;
    credit[at] = select(0.0, (credit[at] - mean) * scale, masks[shape.B * shape.T + at] > 0.0);
  }
}
