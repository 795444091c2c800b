// decode_embedding: x[b] = table[last known token of the row in slot b];
//     also writes its position and its row to positions
// Shapes    state (B, 8), see decode_sample; record (B,T); table (V,C); x (N,C) by slot; positions (2,B) by slot:
//           positions, then rows.
// Parallel  one thread per element of x: x covers C, y covers N. No shared memory.
// Numerics  f32 copy. An empty row embeds token 0 at position 0, which has no effect, because the first token of a row
//           is always forced.
alias Weight = f32; // or f16
struct Shape { N: u32, B: u32, C: u32, T: u32 }
@group(0) @binding(0) var<storage, read> state: array<u32>;
@group(0) @binding(1) var<storage, read> record: array<u32>;
@group(0) @binding(2) var<storage, read> table: array<Weight>;
@group(0) @binding(3) var<storage, read_write> x: array<f32>;
@group(0) @binding(4) var<storage, read_write> positions: array<u32>;
@group(0) @binding(5) var<uniform> shape: Shape;

@compute @workgroup_size(16, 4)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let c = id.x;
  let b = id.y;
  if (c >= shape.C || b >= shape.N) { return; }
  let position = max(state[b * 8u], 1u) - 1u;
  let row = state[b * 8u + 7u];
  if (c == 0u) {
    positions[b] = position;
    positions[shape.B + b] = row;
  }
  let token = record[row * shape.T + position] & 0xffffu;
  x[b * shape.C + c] = f32(table[token * shape.C + c]);
}
