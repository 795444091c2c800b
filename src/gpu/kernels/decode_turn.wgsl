// decode_turn: takes each row through its turn in one dispatch, token after token: embedding, layers, cache and, after
//     the last forced token, final norm, language head and draw. Forced tokens pass through the same layers. The
//     arithmetic of a token and of a draw is that of decode_embedding, recordLayer and decode_sample
// Shapes    B rows in B slots, of which the first N are at work. weights: all parameters of the network, with the first
//           layer's at qkv_at, out_at, gate_up_at, down_at and bias_at, the next layer's `matrices` or `biases` scalars
//           on; its norms at norm_at and middle_at, the next layer's `norms` on; embedding, final norm and head at
//           table_at, final_at and head_at; table (T, D/2, 2) of cos and sin; cache: layer after layer, `caches`
//           scalars apart, (2, B, T, G·D) by row and position in its context: keys, then values; grammar, state, record and drawn as in
//           decode_sample. C, F and D are multiples of 4.
// Parallel  a workgroup of WIDTH threads owns a row. Activations stay in workgroup memory; LANES threads share an
//           element of a product, so that neighbours load neighbouring weights. A barrier follows every step, twelve a
//           layer. A row ends when its turn does, or after `span` tokens: then the next dispatch goes on. Rows never
//           read each other.
// Numerics  f32; what the layers' own kernels store in halves is rounded here too, except the outputs of norms. One
//           thread adds the weights of all tokens, in their order.
override C: u32 = 8; // width
override F: u32 = 8; // of the MLP
override V: u32 = 8; // vocabulary
override H: u32 = 1; // query heads
override G: u32 = 1; // key heads
override D: u32 = 8; // size of a head
override WIDTH: u32 = 16; // threads of a workgroup, a multiple of LANES
override LANES: u32 = 4; // threads that share an element of a product
override INPUTS: u32 = 8; // the longest of C, H·D, F
override LOGITS: u32 = 8; // the longer of H·D, V
override PARTS: u32 = 64; // the longest of LANES times the columns of a product, H·T, 2·V
override BIAS: u32 = 0; // 1: queries, keys and values have biases
override EPS: f32 = 1e-5;
alias Weight = f32; // or f16
alias Kept = f32; // or f16
const NOTHING = 0xffffffffu;
struct Shape {
  N: u32, B: u32, T: u32, L: u32, span: u32, table_at: u32, qkv_at: u32, out_at: u32, gate_up_at: u32, down_at: u32,
  matrices: u32, bias_at: u32, biases: u32, norm_at: u32, middle_at: u32, norms: u32, final_at: u32, head_at: u32,
  caches: u32,
}
struct RowSampling { key: u32, greedy: u32, top_k: u32, states: u32, temperature: f32, top_p: f32 }
//! piece uniform_draw
@group(0) @binding(0) var<storage, read> weights: array<vec4<Weight>>;
@group(0) @binding(1) var<storage, read> table: array<vec2f>;
@group(0) @binding(2) var<storage, read> grammar: array<i32>;
@group(0) @binding(3) var<storage, read_write> cache: array<Kept>;
@group(0) @binding(4) var<storage, read_write> state: array<u32>;
@group(0) @binding(5) var<storage, read_write> record: array<u32>;
@group(0) @binding(6) var<storage, read_write> drawn: array<u32>;
@group(0) @binding(7) var<uniform> settings: RowSampling;
@group(0) @binding(8) var<uniform> shape: Shape;

var<workgroup> x: array<f32, C>; // residual stream
var<workgroup> y: array<f32, INPUTS>; // input of the next product
var<workgroup> z: array<f32, LOGITS>; // queries; then logits, of illegal tokens -3e38
var<workgroup> p: array<f32, PARTS>; // parts of a product; scores; weights of tokens, then those that top-k and top-p keep
var<workgroup> row: vec4u; // position of the token in work, length, grammar state, length at which to stop

fn kept(value: f32) -> f32 { return f32(Kept(value)); }
fn weight(at: u32) -> f32 { return f32(weights[at / 4u][at % 4u]); }

// y = RMSNorm(x)
fn norm(lane: u32, at: u32) {
  var squares = 0.0;
  for (var k = 0u; k < C; k++) { squares += x[k] * x[k]; }
  let s = 1.0 / sqrt(squares / f32(C) + EPS);
  for (var j = lane; j < C; j += WIDTH) { y[j] = x[j] * s * weight(at + j); }
  workgroupBarrier();
}

// parts of the matrix (M,K) at `at`, times y
fn multiply(lane: u32, at: u32, M: u32, K: u32) {
  let part = lane % LANES;
  for (var j = lane / LANES; j < M; j += WIDTH / LANES) {
    var sum = 0.0;
    for (var k = 4u * part; k < K; k += 4u * LANES) {
      sum += dot(vec4f(weights[(at + j * K + k) / 4u]), vec4f(y[k], y[k + 1u], y[k + 2u], y[k + 3u]));
    }
    p[j * LANES + part] = sum;
  }
  workgroupBarrier();
}

// element j of the product
fn product(j: u32) -> f32 {
  var sum = 0.0;
  for (var i = 0u; i < LANES; i++) { sum += p[j * LANES + i]; }
  return sum;
}

// queries into z, keys and values into the cache, rotated; `position` is that in the context
fn place_heads(lane: u32, layer: u32, keys: u32, position: u32) {
  let half = D / 2u;
  for (var i = lane; i < (H + 2u * G) * half; i += WIDTH) {
    let head = i / half;
    let column = i / half * D + i % half;
    var lo = product(column);
    var hi = product(column + half);
    if (BIAS == 1u) {
      let bias = shape.bias_at + layer * shape.biases + column;
      lo += weight(bias);
      hi += weight(bias + half);
    }
    if (head < H + G) {
      let turn = table[position * half + i % half];
      let rotated = lo * turn.x - hi * turn.y;
      hi = hi * turn.x + lo * turn.y;
      lo = rotated;
    }
    if (head < H) {
      z[column] = kept(lo);
      z[column + half] = kept(hi);
    } else {
      let values = select(0u, shape.B * shape.T * G * D, head >= H + G);
      let at = keys + values + position * G * D + (head - H) % G * D + i % half;
      cache[at] = Kept(lo);
      cache[at + half] = Kept(hi);
    }
  }
  storageBarrier();
  workgroupBarrier();
}

// y = attention of the queries in z over the first `count` positions
fn attend(lane: u32, keys: u32, count: u32) {
  let scale = 1.0 / sqrt(f32(D));
  for (var i = lane; i < H * count; i += WIDTH) {
    let h = i / count;
    let key = keys + (i % count * G + h * G / H) * D;
    var s = 0.0;
    for (var d = 0u; d < D; d++) { s += z[h * D + d] * scale * f32(cache[key + d]); }
    p[i] = s;
  }
  workgroupBarrier();
  let values = keys + shape.B * shape.T * G * D;
  for (var j = lane; j < H * D; j += WIDTH) {
    let h = j / D;
    let scores = h * count;
    var top = p[scores];
    for (var t = 1u; t < count; t++) { top = max(top, p[scores + t]); }
    var total = 0.0;
    var sum = 0.0;
    for (var t = 0u; t < count; t++) {
      let e = exp(p[scores + t] - top);
      total += e;
      sum += e * f32(cache[values + (t * G + h * G / H) * D + j % D]);
    }
    y[j] = kept(sum / total);
  }
  workgroupBarrier();
}

// x += product
fn add_product(lane: u32) {
  for (var j = lane; j < C; j += WIDTH) { x[j] += product(j); }
  workgroupBarrier();
}

// number of legal tokens that are likelier than v (on a tie: that have a lower id), and their total weight
fn ahead(v: u32) -> vec2f {
  var before = vec2f();
  for (var i = 0u; i < V; i++) {
    if (z[i] > z[v] || (z[i] == z[v] && i < v)) { before += vec2f(1.0, p[i]); }
  }
  return before;
}

fn sum_of_weights(first: u32) -> f32 {
  var sum = 0.0;
  for (var v = first; v < first + V; v++) { sum += p[v]; }
  return sum;
}

// weights above V: those that top-k, then top-p keep
fn cut(lane: u32) {
  for (var v = lane; v < V; v += WIDTH) {
    let keeps = settings.top_k == 0u || ahead(v).x < f32(settings.top_k);
    p[V + v] = select(0.0, p[v], keeps);
  }
  workgroupBarrier();
  let left = sum_of_weights(V);
  workgroupBarrier();
  for (var v = lane; v < V; v += WIDTH) {
    let before = ahead(v);
    if (before.x > 0.0 && before.y >= settings.top_p * left) { p[V + v] = 0.0; }
  }
  workgroupBarrier();
}

// draws from the product, and appends the token to the row in slot b
fn append_draw(lane: u32, b: u32, turn: vec4u) {
  let s = turn.z;
  for (var v = lane; v < V; v += WIDTH) { z[v] = select(-3e38, product(v), grammar[s * V + v] >= 0); }
  workgroupBarrier();
  var token = 0u;
  for (var v = 1u; v < V; v++) { token = select(token, v, z[v] > z[token]); }
  let top = z[token] / settings.temperature;
  for (var v = lane; v < V; v += WIDTH) {
    p[v] = select(0.0, exp(z[v] / settings.temperature - top), z[v] > -3e38);
  }
  workgroupBarrier();
  let cuts = settings.greedy == 0u && (settings.top_k > 0u || settings.top_p < 1.0);
  if (cuts) { cut(lane); }
  if (lane > 0u) { return; }
  let total = sum_of_weights(0u);
  let first = select(0u, V, cuts);
  let mass = sum_of_weights(first);
  let goal = uniform_draw(state[b * 8u + 2u], state[b * 8u + 3u], turn.y) * mass;
  if (settings.greedy == 0u) {
    var sum = 0.0;
    for (var v = 0u; v < V && sum <= goal; v++) {
      token = select(token, v, p[first + v] > 0.0);
      sum += p[first + v];
    }
  }
  record[(state[b * 8u + 7u] & 0xffffu) * shape.T + turn.y] = token | (2u << 16u) | (s << 24u);
  let at = b * 64u + turn.y % 64u;
  drawn[at] = token;
  drawn[shape.B * 64u + at] = bitcast<u32>(z[token] / settings.temperature - top - log(total));
  if (cuts) { drawn[shape.B * 128u + at] = bitcast<u32>(log(mass / total)); }
  let next = u32(max(grammar[s * V + token], 0));
  let stops = grammar[settings.states * V + next] != 0;
  row = vec4u(turn.x + 1u, turn.y + 1u, select(next, NOTHING, stops), turn.w);
}

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let b = group.x;
  if (b >= shape.N) { return; }
  let own = state[b * 8u + 7u] & 0xffffu;
  let start = state[b * 8u + 7u] >> 16u; // of the row's context
  let length = state[b * 8u];
  let forced = state[b * 8u + 6u]; // number, then role << 16
  for (var i = lane; i < (forced & 0xffffu); i += WIDTH) {
    let t = length - 1u - i;
    record[own * shape.T + t] = drawn[b * 64u + t % 64u] | (forced & 0xffff0000u);
  }
  if (lane == 0u) { row = vec4u(state[b * 8u + 5u], length, state[b * 8u + 1u], state[b * 8u + 4u]); }
  for (var i = 0u; i < shape.span; i++) {
    storageBarrier();
    let turn = workgroupUniformLoad(&row);
    let draws = turn.x + 1u == turn.y && turn.z != NOTHING && turn.y < turn.w;
    if (turn.x + 1u >= turn.y && !draws) { break; }
    let token = record[own * shape.T + turn.x] & 0xffffu;
    for (var j = lane; j < C; j += WIDTH) { x[j] = weight(shape.table_at + token * C + j); }
    workgroupBarrier();
    for (var layer = 0u; layer < shape.L; layer++) {
      let matrix = layer * shape.matrices;
      let keys = layer * shape.caches + own * shape.T * G * D;
      norm(lane, shape.norm_at + layer * shape.norms);
      multiply(lane, shape.qkv_at + matrix, (H + 2u * G) * D, C);
      place_heads(lane, layer, keys, turn.x - start);
      // the last layer only has to cache keys and values of a token that no draw follows
      if (!draws && layer + 1u == shape.L) { break; }
      attend(lane, keys, turn.x + 1u - start);
      multiply(lane, shape.out_at + matrix, C, H * D);
      add_product(lane);
      norm(lane, shape.middle_at + layer * shape.norms);
      multiply(lane, shape.gate_up_at + matrix, 2u * F, C);
      for (var j = lane; j < F; j += WIDTH) {
        let gate = product(j);
        y[j] = kept(gate / (1.0 + exp(min(-gate, 80.0))) * product(F + j));
      }
      workgroupBarrier();
      multiply(lane, shape.down_at + matrix, C, F);
      add_product(lane);
    }
    if (draws) {
      norm(lane, shape.final_at);
      multiply(lane, shape.head_at, V, C);
      append_draw(lane, b, turn);
    } else if (lane == 0u) {
      row.x = turn.x + 1u;
    }
  }
  if (lane == 0u) {
    state[b * 8u] = row.y;
    state[b * 8u + 1u] = row.z;
    state[b * 8u + 5u] = row.x;
    state[b * 8u + 6u] = 0u;
  }
}
