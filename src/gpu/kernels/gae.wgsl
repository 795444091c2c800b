// gae: delta_k = r_k + gamma·V_{k+1} − V_k, A_k = delta_k + gamma·lambda·A_{k+1}, return_k = A_k + V_k, k over
//     tokens of the
//     advantage mask only: the walk passes over the others without a step (arXiv 1506.02438; Agent-R1; verl #2337)
// Shapes    record (B,T); rewards, values (B,T); masks (2, B, T): loss, value; credit (2, B, T): advantage, return;
//           sums (B, 4): count and sum of the advantages of the row.
// Parallel  one thread per row walks its tokens from the last to the first. No shared memory.
// Numerics  f32; tokens outside the mask get 0 and a reward there is left out.
struct Shape { B: u32, T: u32 }
struct Credit { gamma: f32, lambda: f32, divide_by_std: f32, whiten: f32, loss_mask: f32, advantage_mask: f32 }
@group(0) @binding(0) var<storage, read> record: array<u32>;
@group(0) @binding(1) var<storage, read> rewards: array<f32>;
@group(0) @binding(2) var<storage, read> values: array<f32>;
@group(0) @binding(3) var<storage, read_write> masks: array<f32>;
@group(0) @binding(4) var<storage, read_write> credit: array<f32>;
@group(0) @binding(5) var<storage, read_write> sums: array<f32>;
@group(0) @binding(6) var<uniform> settings: Credit;
@group(0) @binding(7) var<uniform> shape: Shape;

@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let b = id.x;
  if (b >= shape.B) { return; }
  let all = shape.B * shape.T;
  var next_value = 0.0;
  var carried = 0.0;
  var count = 0.0;
  var sum = 0.0;
  for (var back = 1u; back <= shape.T; back++) {
    let at = b * shape.T + shape.T - back;
    let role = (record[at] >> 16u) & 3u;
    let inside = role == 2u || (role == 3u && settings.advantage_mask == 0.0);
    masks[at] = f32(role == 2u || (role == 3u && settings.loss_mask == 0.0));
    masks[all + at] = f32(inside);
    var advantage = 0.0;
    var target_value = 0.0;
    if (inside) {
      let value = values[at];
      let delta = rewards[at] + settings.gamma * next_value - value;
      advantage = delta + settings.gamma * settings.lambda * carried;
      target_value = advantage + value;
      next_value = value;
      carried = advantage;
      count += 1.0;
      sum += advantage;
    }
    credit[at] = advantage;
    credit[all + at] = target_value;
  }
  sums[b * 4u] = count;
  sums[b * 4u + 1u] = sum;
}
