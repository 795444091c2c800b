// attention_backward_query_tiles: with p_j = exp(q·k_j/√D − lse), delta = dout·out:
//     dq = sum_{j≤t} p_j·(dout·v_j − delta)·k_j/√D, turned back by the rotary angle of t (workgroup variant)
// Shapes    qkv, dqkv (B·T, W), W = (H + 2·G)·D; out, dout (B·T, H·D); lse, delta (B·T, H); table (P, D/2, 2).
// Parallel  one thread per query: x walks T/32, y walks H, z walks B; writes the query columns of dqkv and delta. The
//           32 queries of a workgroup share tiles of 16 keys and values in 8 KB of workgroup memory.
// Numerics  f32; probabilities are recomputed from lse, so exp never overflows. Positions are t: training rows start
//           at 0.
override HEAD: u32 = 8; // D, at most 64; a constant, so that loops over it unroll
alias Kept = f32; // or f16
struct Shape { N: u32, T: u32, H: u32, G: u32, W: u32 }
@group(0) @binding(0) var<storage, read> qkv: array<Kept>;
@group(0) @binding(1) var<storage, read> out: array<Kept>;
@group(0) @binding(2) var<storage, read> dout: array<f32>;
@group(0) @binding(3) var<storage, read> lse: array<f32>;
@group(0) @binding(4) var<storage, read> table: array<vec2f>;
@group(0) @binding(5) var<storage, read_write> delta: array<f32>;
@group(0) @binding(6) var<storage, read_write> dqkv: array<f32>;
@group(0) @binding(7) var<uniform> shape: Shape;

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
  let at = (first + t) * shape.W + h * HEAD;
  let o = (first + t) * shape.H + h;
  let norm = lse[o];
  var q: array<f32, 64>;
  var g: array<f32, 64>; // dout
  var dq: array<f32, 64>;
  var dot = 0.0;
  for (var d = 0u; d < HEAD; d++) {
    q[d] = f32(qkv[at + d]) * scale;
    g[d] = dout[o * HEAD + d];
    dot += f32(out[o * HEAD + d]) * g[d];
  }
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
      var dp = 0.0;
      for (var d = 0u; d < HEAD; d++) {
        s += q[d] * keys[k * HEAD + d];
        dp += g[d] * values[k * HEAD + d];
      }
      let ds = exp(s - norm) * (dp - dot) * scale;
      for (var d = 0u; d < HEAD; d++) { dq[d] += ds * keys[k * HEAD + d]; }
    }
    workgroupBarrier();
  }
  if (own >= shape.T) { return; }
  delta[o] = dot;
  let half = HEAD / 2u;
  for (var i = 0u; i < half; i++) {
    let turn = table[t * half + i];
    dqkv[at + i] = dq[i] * turn.x + dq[i + half] * turn.y;
    dqkv[at + i + half] = dq[i + half] * turn.x - dq[i] * turn.y;
  }
}
