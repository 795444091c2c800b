// attention_backward_key_value_tiles: with p_i = exp(q_i·k_j/√D − lse_i) over queries i ≥ j and the query heads
//     that read this key:
//     dv_j = sum p_i·dout_i;  dk_j = sum p_i·(dout_i·v_j − delta_i)·q_i/√D, turned back by the rotary angle of j
//     (workgroup variant)
// Shapes    qkv, dqkv (B·T, W), W = (H + 2·G)·D; dout (B·T, H·D); lse, delta (B·T, H); table (P, D/2, 2).
// Parallel  one thread per key: x walks T/32, y walks G, z walks B; writes the key and value columns of dqkv. The 32
//           keys of a workgroup share tiles of 16 queries and their dout in 8 KB of workgroup memory.
// Numerics  f32; sums run over tiles of queries, in them over query heads, in those over queries, always in that order.
//           Positions are t: training rows start at 0.
override HEAD: u32 = 8; // D, at most 64; a constant, so that loops over it unroll
alias Kept = f32; // or f16
struct Shape { N: u32, T: u32, H: u32, G: u32, W: u32 }
@group(0) @binding(0) var<storage, read> qkv: array<Kept>;
@group(0) @binding(1) var<storage, read> dout: array<f32>;
@group(0) @binding(2) var<storage, read> lse: array<f32>;
@group(0) @binding(3) var<storage, read> delta: array<f32>;
@group(0) @binding(4) var<storage, read> table: array<vec2f>;
@group(0) @binding(5) var<storage, read_write> dqkv: array<f32>;
@group(0) @binding(6) var<uniform> shape: Shape;

const WIDTH = 32u;
const TILE = 16u;
var<workgroup> queries: array<f32, 1024>; // (TILE, D)
var<workgroup> douts: array<f32, 1024>;

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let first = group.z * shape.T;
  let own = group.x * WIDTH + thread;
  let j = min(own, shape.T - 1u);
  let key = (first + j) * shape.W + (shape.H + group.y) * HEAD;
  let value = key + shape.G * HEAD;
  let each = shape.H / shape.G;
  let scale = 1.0 / sqrt(f32(HEAD));
  var k: array<f32, 64>;
  var v: array<f32, 64>;
  var dk: array<f32, 64>;
  var dv: array<f32, 64>;
  for (var d = 0u; d < HEAD; d++) {
    k[d] = f32(qkv[key + d]) * scale;
    v[d] = f32(qkv[value + d]);
  }
  for (var i = group.x * WIDTH; i < shape.T; i += TILE) {
    for (var h = group.y * each; h < (group.y + 1u) * each; h++) {
      for (var e = thread; e < TILE * HEAD; e += WIDTH) {
        let row = first + min(i + e / HEAD, shape.T - 1u);
        queries[e] = f32(qkv[row * shape.W + h * HEAD + e % HEAD]);
        douts[e] = dout[(row * shape.H + h) * HEAD + e % HEAD];
      }
      workgroupBarrier();
      for (var r = max(i, j) - i; r < min(TILE, shape.T - i); r++) { // queries of the tile that are not before j
        let o = (first + i + r) * shape.H + h;
        var s = 0.0;
        var dp = 0.0;
        for (var d = 0u; d < HEAD; d++) {
          s += queries[r * HEAD + d] * k[d];
          dp += douts[r * HEAD + d] * v[d];
        }
        let p = exp(s - lse[o]);
        let ds = p * (dp - delta[o]) * scale;
        for (var d = 0u; d < HEAD; d++) {
          dk[d] += ds * queries[r * HEAD + d];
          dv[d] += p * douts[r * HEAD + d];
        }
      }
      workgroupBarrier();
    }
  }
  if (own >= shape.T) { return; }
  let half = HEAD / 2u;
  for (var i = 0u; i < half; i++) {
    let turn = table[j * half + i];
    dqkv[key + i] = dk[i] * turn.x + dk[i + half] * turn.y;
    dqkv[key + i + half] = dk[i + half] * turn.x - dk[i] * turn.y;
    dqkv[value + i] = dv[i];
    dqkv[value + i + half] = dv[i + half];
  }
}
