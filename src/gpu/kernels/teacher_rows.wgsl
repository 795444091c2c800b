// teacher_rows: the log-probabilities of a whole distribution, log q_v = r_v / temperature − lse, from the products r of a
//     node and the log normalizer that language_head wrote for a token y after it
// Shapes    record, grammar, targets, logits (N,V): r as in language_head; scores (4, B, T), of which the third is lse;
//           teacher (B,T,V): log q at the row of y, 0 if illegal.
// Parallel  one thread per target and word. No shared memory.
// Numerics  f32.
struct Shape { M: u32, V: u32, T: u32, B: u32 }
//! piece step_knobs
@group(0) @binding(0) var<storage, read> record: array<u32>;
@group(0) @binding(1) var<storage, read> grammar: array<i32>;
@group(0) @binding(2) var<storage, read> targets: array<vec2u>;
@group(0) @binding(3) var<storage, read> logits: array<f32>;
@group(0) @binding(4) var<storage, read> scores: array<f32>;
@group(0) @binding(5) var<storage, read_write> teacher: array<f32>;
@group(0) @binding(6) var<uniform> knobs: Knobs;
@group(0) @binding(7) var<uniform> shape: Shape;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let i = (group.x + group.y * 65535u) * 64u + thread;
  let m = i / shape.V;
  if (m >= shape.M) { return; }
  let found = targets[m];
  if (found.x == 0xffffffffu) { return; }
  let v = i % shape.V;
  let legal = grammar[(record[found.y] >> 24u) * shape.V + v] >= 0;
  let logq = logits[found.x * shape.V + v] / knobs.temperature - scores[2u * shape.B * shape.T + found.y];
  teacher[found.y * shape.V + v] = select(0.0, logq, legal);
}
