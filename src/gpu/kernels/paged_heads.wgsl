// paged_heads: prepares q, k and v for attention: adds the bias; normalises each head of q and k (RMSNorm, as in Qwen3)
//     and rotates it by its position (rotary); writes q to queries, and k and v to the place of their position in the
//     cache
// Shapes    qkv (N,W), W = (H + 2·G)·D, D a multiple of 4; seats (·), each with one token of the pass, as (token,
//           position, row, tokens left to draw); places (B,T), where in the cache each position is; table (T, D/2, 2)
//           of cos and sin; bias (W); norms (2,D) of q, of k; queries (N, H·D); cache (·, 2·G·D): at each place its
//           keys, then its values, in float16 or float32.
// Parallel  one thread per two pairs of a head, (i, i + D/2) and the next. x covers W/4, y covers N. No other thread
//           writes its words of the cache. Each thread of a head sums all squares of the head. No shared memory.
// Numerics  f32; cos and sin come from a table computed in float64. Keys and values are rounded if the cache holds
//           float16.
override EPS: f32 = 1e-5;
override BIAS: u32 = 0; // 1: bias is added; 0: another tensor is bound in its place
override HALVES: u32 = 1; // 1: the cache holds float16; 0: float32
override NORM: u32 = 0; // 1: heads of q and k are normalised; 0: another tensor is bound to `norms`
struct Shape { N: u32, T: u32, H: u32, G: u32, D: u32 }
@group(0) @binding(0) var<storage, read> qkv: array<f32>;
@group(0) @binding(1) var<storage, read> seats: array<vec4u>;
@group(0) @binding(2) var<storage, read> places: array<u32>;
@group(0) @binding(3) var<storage, read> table: array<vec2f>;
@group(0) @binding(4) var<storage, read> bias: array<f32>;
@group(0) @binding(5) var<storage, read> norms: array<f32>;
@group(0) @binding(6) var<storage, read_write> queries: array<f32>;
@group(0) @binding(7) var<storage, read_write> cache: array<u32>;
@group(0) @binding(8) var<uniform> shape: Shape;

fn projected(n: u32, column: u32) -> f32 {
  let W = (shape.H + 2u * shape.G) * shape.D;
  var value = qkv[n * W + column];
  if (BIAS == 1u) { value += bias[column]; }
  return value;
}

@compute @workgroup_size(16, 4)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let n = id.y;
  let quarter = max(shape.D, 4u) / 4u;
  let head = id.x / quarter;
  if (head >= shape.H + 2u * shape.G || n >= shape.N) { return; }
  let seat = seats[n];
  if (seat.z == 0xffffffffu) { return; }
  let half = shape.D / 2u;
  let i = id.x % quarter * 2u;
  let first = head * shape.D;
  var lo = vec2f(projected(n, first + i), projected(n, first + i + 1u));
  var hi = vec2f(projected(n, first + half + i), projected(n, first + half + i + 1u));
  if (head < shape.H + shape.G) {
    if (NORM == 1u) {
      var squares = 0.0;
      for (var d = 0u; d < shape.D; d++) {
        let value = projected(n, first + d);
        squares += value * value;
      }
      let scale = 1.0 / sqrt(squares / f32(shape.D) + EPS);
      let weight = select(shape.D, 0u, head < shape.H) + i;
      lo *= scale * vec2f(norms[weight], norms[weight + 1u]);
      hi *= scale * vec2f(norms[weight + half], norms[weight + half + 1u]);
    }
    let at = seat.y * half + i;
    let cosines = vec2f(table[at].x, table[at + 1u].x);
    let sines = vec2f(table[at].y, table[at + 1u].y);
    let turned = lo * cosines - hi * sines;
    hi = hi * cosines + lo * sines;
    lo = turned;
  }
  if (head < shape.H) {
    let to = n * shape.H * shape.D + first + i;
    queries[to] = lo.x;
    queries[to + 1u] = lo.y;
    queries[to + half] = hi.x;
    queries[to + half + 1u] = hi.y;
    return;
  }
  let place = places[seat.z * shape.T + seat.y];
  let to = (place * 2u * shape.G + head - shape.H) * shape.D + i;
  if (HALVES == 1u) {
    cache[to / 2u] = pack2x16float(lo);
    cache[(to + half) / 2u] = pack2x16float(hi);
  } else {
    cache[to] = bitcast<u32>(lo.x);
    cache[to + 1u] = bitcast<u32>(lo.y);
    cache[to + half] = bitcast<u32>(hi.x);
    cache[to + half + 1u] = bitcast<u32>(hi.y);
  }
}
