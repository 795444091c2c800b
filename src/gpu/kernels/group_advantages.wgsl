// group_advantages: A = (S_b − mean_g S) / (std_g S + 1e-6) on every token of the advantage mask of row b, S the
//     summed reward,
//     std with n − 1; without the division this is Dr. GRPO (GRPO, arXiv 2402.03300 §4.1.2; Dr. GRPO, arXiv 2503.20783)
// Shapes    record (B,T); rewards (B,T); groups (B); masks (2, B, T): loss, value (0: no
//           critic has a target here); credit (2, B, T): advantage, 0.
// Parallel  one thread per row adds up the scores of its own group. No shared memory.
// Numerics  f32; a group of one, or whose scores differ by less than 1e-6 (rounding, not signal), gets 0.
struct Shape { B: u32, T: u32 }
struct Credit { gamma: f32, lambda: f32, divide_by_std: f32, whiten: f32, loss_mask: f32, advantage_mask: f32 }
@group(0) @binding(0) var<storage, read> record: array<u32>;
@group(0) @binding(1) var<storage, read> rewards: array<f32>;
@group(0) @binding(2) var<storage, read> groups: array<u32>;
@group(0) @binding(3) var<storage, read_write> masks: array<f32>;
@group(0) @binding(4) var<storage, read_write> credit: array<f32>;
@group(0) @binding(5) var<uniform> settings: Credit;
@group(0) @binding(6) var<uniform> shape: Shape;

fn inside(at: u32) -> bool {
  let role = (record[at] >> 16u) & 3u;
  return role == 2u || (role == 3u && settings.advantage_mask == 0.0);
}

fn score(b: u32) -> f32 {
  var sum = 0.0;
  for (var t = 0u; t < shape.T; t++) {
    if (inside(b * shape.T + t)) { sum += rewards[b * shape.T + t]; }
  }
  return sum;
}

@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let b = id.x;
  if (b >= shape.B) { return; }
  let all = shape.B * shape.T;
  let mine = score(b);
  var n = 0.0;
  var sum = 0.0;
  var low = mine;
  var high = mine;
  for (var i = 0u; i < shape.B; i++) {
    if (groups[i] != groups[b]) { continue; }
    let s = score(i);
    n += 1.0;
    sum += s;
    low = min(low, s);
    high = max(high, s);
  }
  let mean = sum / n;
  var squares = 0.0;
  for (var i = 0u; i < shape.B; i++) {
    if (groups[i] != groups[b]) { continue; }
    let d = score(i) - mean;
    squares += d * d;
  }
  var advantage = 0.0;
  if (n > 1.0 && high - low >= 1e-6) {
    advantage = mine - mean;
    if (settings.divide_by_std == 1.0) { advantage /= sqrt(squares / (n - 1.0)) + 1e-6; }
  }
  for (var t = 0u; t < shape.T; t++) {
    let at = b * shape.T + t;
    let role = (record[at] >> 16u) & 3u;
    masks[at] = f32(role == 2u || (role == 3u && settings.loss_mask == 0.0));
    masks[all + at] = 0.0;
    credit[at] = select(0.0, advantage, inside(at));
    credit[all + at] = 0.0;
  }
}
