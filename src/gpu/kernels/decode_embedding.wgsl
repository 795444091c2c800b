// decode_embedding: x[b] = table[token in work of the row in slot b];
//     also writes its position and its row to positions, and forced tokens into the record
// Shapes    state (B, 8) and drawn (3, B, 64), see decode_sample; record (B,T); table (V,C); x (N,C) by slot; positions
//           (2,B) by slot: positions in the row's context, then rows.
// Parallel  one thread per element of x: x covers C, y covers N. No shared memory.
// Numerics  f32 copy. An empty row embeds any token at position 0, which has no effect, because the first token of a row
//           is always forced.
alias Weight = f32; // or f16
struct Shape { N: u32, B: u32, C: u32, T: u32 }
@group(0) @binding(0) var<storage, read> state: array<u32>;
@group(0) @binding(1) var<storage, read> drawn: array<u32>;
@group(0) @binding(2) var<storage, read> table: array<Weight>;
@group(0) @binding(3) var<storage, read_write> record: array<u32>;
@group(0) @binding(4) var<storage, read_write> x: array<f32>;
@group(0) @binding(5) var<storage, read_write> positions: array<u32>;
@group(0) @binding(6) var<uniform> shape: Shape;

@compute @workgroup_size(16, 4)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let c = id.x;
  let b = id.y;
  if (c >= shape.C || b >= shape.N) { return; }
  let length = state[b * 8u];
  let position = state[b * 8u + 5u];
  let forced = state[b * 8u + 6u];
  let first = length - (forced & 0xffffu);
  let row = state[b * 8u + 7u] & 0xffffu;
  if (c == 0u) {
    positions[b] = position - (state[b * 8u + 7u] >> 16u);
    positions[shape.B + b] = row;
    for (var t = first; t < length; t++) {
      record[row * shape.T + t] = drawn[b * 64u + t % 64u] | (forced & 0xffff0000u);
    }
  }
  var token = drawn[b * 64u + position % 64u];
  if (position < first) { token = record[row * shape.T + position] & 0xffffu; }
  x[b * shape.C + c] = f32(table[token * shape.C + c]);
}
