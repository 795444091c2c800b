// attention_forward_tiles: out[b,t,h] = sum_{j≤t} p_j·v_j, p = softmax_j(q_t·k_j / √D);
//     lse = log sum_j exp(q_t·k_j / √D) (workgroup variant)
// Shapes    qkv (B·T, W), W = (H + 2·G)·D, rotated; out (B·T, H·D); lse (B·T, H). Query head h reads key head h·G/H.
// Parallel  one thread per query: x walks T/32, y walks H, z walks B. The 32 queries of a workgroup share tiles of 16
//           keys and values in 8 KB of workgroup memory; two barriers a tile.
// Numerics  f32; online softmax; T×T is never stored, only lse for the backward pass.
override HEAD: u32 = 8; // D, at most 64; a constant, so that loops over it unroll
alias Kept = f32; // or f16
struct Shape { N: u32, T: u32, H: u32, G: u32, W: u32 }
@group(0) @binding(0) var<storage, read> qkv: array<Kept>;
@group(0) @binding(1) var<storage, read_write> out: array<Kept>;
@group(0) @binding(2) var<storage, read_write> lse: array<f32>;
@group(0) @binding(3) var<uniform> shape: Shape;

const WIDTH = 32u;
const TILE = 16u;
var<workgroup> keys: array<f32, 1024>; // (TILE, D)
var<workgroup> values: array<f32, 1024>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let h = group.y;
  let first = group.z * shape.T;
  let own = group.x * WIDTH + thread;
  let t = min(own, shape.T - 1u);
  let last = min(group.x * WIDTH + WIDTH, shape.T);
  let key = (shape.H + h * shape.G / shape.H) * HEAD;
  let value = key + shape.G * HEAD;
  let scale = 1.0 / sqrt(f32(HEAD));
  var q: array<f32, 64>;
  var acc: array<f32, 64>;
  for (var d = 0u; d < HEAD; d++) { q[d] = f32(qkv[(first + t) * shape.W + h * HEAD + d]) * scale; }
  var top = -1e30;
  var total = 0.0;
  for (var j = 0u; j < last; j += TILE) {
    for (var i = thread; i < TILE * HEAD; i += WIDTH) {
      let row = (first + min(j + i / HEAD, shape.T - 1u)) * shape.W + i % HEAD;
      keys[i] = f32(qkv[row + key]);
      values[i] = f32(qkv[row + value]);
    }
    workgroupBarrier();
    let seen = min(TILE, max(t + 1u, j) - j); // keys of the tile that are not after t
    for (var k = 0u; k < seen; k++) {
      var s = 0.0;
      for (var d = 0u; d < HEAD; d++) { s += q[d] * keys[k * HEAD + d]; }
      let higher = max(top, s);
      let shrink = exp(top - higher);
      let p = exp(s - higher);
      total = total * shrink + p;
      for (var d = 0u; d < HEAD; d++) { acc[d] = acc[d] * shrink + p * values[k * HEAD + d]; }
      top = higher;
    }
    workgroupBarrier();
  }
  if (own >= shape.T) { return; }
  let o = (first + t) * shape.H + h;
  lse[o] = top + log(total);
  for (var d = 0u; d < HEAD; d++) { out[o * HEAD + d] = Kept(acc[d] / total); }
}
