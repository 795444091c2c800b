// decode_persistent: all draws of a chunk in one dispatch: until its rows have none left, every token goes through
//     embedding, L blocks (norm, qkv, rotary, attention over the cache, output projection, norm, SwiGLU, down
//     projection), final norm and head, and decode_sample's draw appends the next
// Shapes    weights (P), a pool: parameter groups at the scalars that Shape names, layers matrix_stride, norm_stride
//           and bias_stride apart; table (T, D/2) of (cos, sin); cache L × (2, B, T, G·D), layers cache_stride apart;
//           grammar, state, record, drawn and sampled as decode_sample.wgsl has them.
// Parallel  a workgroup of WIDTH threads owns four rows, one a component of every vec4; rows never look at each other,
//           so no workgroup waits for another. In a product a thread owns one column (gate and up, or what rotary
//           turns: two) of all four rows; in attention QUADS·4 scalars of a row's head; thread r draws for row r.
//           Activations stay in workgroup memory: (C + Q + WIDE)·16 bytes. Five barriers a layer, four a token besides.
// Numerics  f32; norms are applied after the product (inv·Σ x·gain·w), k in order; the draw is decode_sample's: same
//           words, same order of summation. C, Q, F and D are multiples of 4.
override WIDTH: u32 = 64;
override QUADS: u32 = 1; // vectors of a head that one thread sums in attention; divides D/4, at most 16
override NARROW: u32 = 8; // C; other loops go by the shape: as constants they would unroll for minutes in software
override H: u32 = 1; override G: u32 = 1; override D: u32 = 8; // query heads, key heads, scalars of a head (at most 64)
override WIDE: u32 = 24; // max((H + 2·G)·D, F, V)
override BIAS: u32 = 0; override EPS: f32 = 1e-5;
struct Shape {
  B: u32, T: u32, C: u32, Q: u32, F: u32, V: u32, L: u32, embed_at: u32, head_at: u32, norm_at: u32,
  norm_stride: u32, matrix_stride: u32, qkv_at: u32, out_at: u32, gate_up_at: u32, down_at: u32, bias_at: u32,
  bias_stride: u32, cache_stride: u32,
}
struct Sampling { key: u32, greedy: u32, top_k: u32, states: u32, temperature: f32, top_p: f32 }
@group(0) @binding(0) var<storage, read> weights: array<vec4f>;
@group(0) @binding(1) var<storage, read> table: array<vec2f>;
@group(0) @binding(2) var<storage, read> grammar: array<i32>;
@group(0) @binding(3) var<storage, read_write> cache: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> state: array<u32>;
@group(0) @binding(5) var<storage, read_write> record: array<u32>;
@group(0) @binding(6) var<storage, read_write> drawn: array<u32>;
@group(0) @binding(7) var<storage, read_write> sampled: array<f32>;
@group(0) @binding(8) var<uniform> settings: Sampling;
@group(0) @binding(9) var<uniform> shape: Shape;

const NOTHING = 0xffffffffu; // the grammar state of a row that draws nothing
var<workgroup> x: array<vec4f, NARROW>; // residual stream
var<workgroup> wide: array<vec4f, WIDE>; // qkv, then act; at last the logits
var<workgroup> attended: array<f32, 4 * H * D>; // (Q, 4): threads of four rows write it
var<workgroup> draws: array<u32, 4>; // 1 where a row draws a token, else 0
var<workgroup> tokens: array<u32, 4>; // the last known, and their positions; 0 where a row is idle
var<workgroup> positions: array<u32, 4>;
var<workgroup> owners: array<u32, 4>; // the rows that sit here

fn vector(at: u32) -> vec4f { return weights[at / 4u]; }
fn scalar(at: u32) -> f32 { return weights[at / 4u][at % 4u]; }
fn embedding(r: u32, c: u32) -> f32 { return scalar(shape.embed_at + tokens[r] * shape.C + c); }
// cos and sin of pair i in row r
fn turn(r: u32, i: u32) -> vec2f { return table[positions[r] * (D / 2u) + i]; }
// four scalars of row r, and four rows of one scalar
fn across(at: u32, r: u32) -> vec4f { return vec4f(wide[at][r], wide[at + 1u][r], wide[at + 2u][r], wide[at + 3u][r]); }
fn heads(at: u32) -> vec4f { return vec4f(attended[at], attended[at + 1u], attended[at + 2u], attended[at + 3u]); }

// four k of one column against four rows
fn quad(sum: vec4f, w: vec4f, x0: vec4f, x1: vec4f, x2: vec4f, x3: vec4f) -> vec4f {
  return fma(vec4f(w.w), x3, fma(vec4f(w.z), x2, fma(vec4f(w.y), x1, fma(vec4f(w.x), x0, sum))));
}

// of RMSNorm(x), for each row: what all columns are scaled by
fn inverse() -> vec4f {
  var squares = vec4f();
  for (var k = 0u; k < shape.C; k++) { squares = fma(x[k], x[k], squares); }
  return 1.0 / sqrt(squares / f32(shape.C) + EPS);
}

// two columns of (x·gain)·weightᵀ
fn gained(norm: u32, lo_at: u32, hi_at: u32) -> mat2x4f {
  var lo = vec4f();
  var hi = vec4f();
  for (var k = 0u; k < shape.C; k += 4u) {
    let gain = vector(norm + k);
    lo = quad(lo, gain * vector(lo_at + k), x[k], x[k + 1u], x[k + 2u], x[k + 3u]);
    hi = quad(hi, gain * vector(hi_at + k), x[k], x[k + 1u], x[k + 2u], x[k + 3u]);
  }
  return mat2x4f(lo, hi);
}

// QUADS·4 columns of one head of one row; the first head and part of each key head append its key and value
fn attend(layer: u32, item: u32) {
  let r = item % 4u;
  let head = item / 4u % H;
  let part = item / (4u * H) * QUADS;
  let g = head * G / H;
  let t = positions[r];
  let key = (H + g) * D;
  let value = key + G * D;
  let step = G * D / 4u;
  let keys = (layer * shape.cache_stride + owners[r] * shape.T * G * D + g * D) / 4u;
  let values = keys + shape.B * shape.T * step;
  let appends = draws[r] == 1u && part == 0u && head % (H / G) == 0u;
  var q: array<vec4f, 16>;
  var acc: array<vec4f, 16>;
  var top = 0.0;
  for (var n = 0u; n < D / 4u; n++) {
    let k = across(key + 4u * n, r);
    q[n] = across(head * D + 4u * n, r) / sqrt(f32(D));
    top += dot(q[n], k);
    if (appends) {
      cache[keys + t * step + n] = k;
      cache[values + t * step + n] = across(value + 4u * n, r);
    }
  }
  var total = 1.0;
  for (var n = 0u; n < QUADS; n++) { acc[n] = across(value + 4u * (part + n), r); }
  for (var j = 0u; j < t; j++) {
    var s = 0.0;
    for (var n = 0u; n < D / 4u; n++) { s += dot(q[n], cache[keys + j * step + n]); }
    let higher = max(top, s);
    let shrink = exp(top - higher);
    let p = exp(s - higher);
    total = total * shrink + p;
    for (var n = 0u; n < QUADS; n++) { acc[n] = acc[n] * shrink + p * cache[values + j * step + part + n]; }
    top = higher;
  }
  for (var n = 0u; n < QUADS; n++) {
    for (var i = 0u; i < 4u; i++) { attended[(head * D + 4u * (part + n) + i) * 4u + r] = acc[n][i] / total; }
  }
}

fn project(at: u32) -> vec4f {
  var sum = vec4f();
  for (var k = 0u; k < shape.Q; k += 4u) {
    let a = 4u * k;
    sum = quad(sum, vector(at + k), heads(a), heads(a + 4u), heads(a + 8u), heads(a + 12u));
  }
  return sum;
}

fn down(at: u32) -> vec4f {
  var sum = vec4f();
  for (var k = 0u; k < shape.F; k += 4u) {
    sum = quad(sum, vector(at + k), wide[k], wide[k + 1u], wide[k + 2u], wide[k + 3u]);
  }
  return sum;
}

fn uniformly(update: u32, rollout: u32, position: u32) -> f32 {
  var v = vec4u(settings.key, update, rollout, position) * 1664525u + 1013904223u;
  v.x += v.y * v.w; v.y += v.z * v.x; v.z += v.x * v.y; v.w += v.y * v.z;
  v ^= v >> vec4u(16u);
  v.x += v.y * v.w; v.y += v.z * v.x; v.z += v.x * v.y; v.w += v.y * v.z;
  return f32(v.x >> 8u) / 16777216.0;
}

fn legal(s: u32, v: u32) -> bool { return grammar[s * shape.V + v] >= 0; }

// a token's share of the mass; 0 where it is not legal
fn mass_of(r: u32, s: u32, v: u32, top: f32) -> f32 {
  return select(0.0, exp(min(wide[v][r] / settings.temperature - top, 0.0)), legal(s, v));
}

// whether v survives top-k and then top-p of `left`, the mass that top-k left; ties by id
fn kept(r: u32, s: u32, v: u32, top: f32, left: f32) -> bool {
  var before = vec2f(); // legal tokens that are likelier: how many, and their mass
  for (var i = 0u; i < shape.V; i++) {
    let likelier = wide[i][r] > wide[v][r] || (wide[i][r] == wide[v][r] && i < v);
    if (legal(s, i) && likelier) { before += vec2f(1.0, mass_of(r, s, i, top)); }
  }
  let first = settings.top_k == 0u || before.x < f32(settings.top_k);
  return first && (before.x == 0.0 || before.y < settings.top_p * left);
}

fn mass_kept(r: u32, s: u32, top: f32, left: f32) -> f32 {
  var mass = 0.0;
  for (var v = 0u; v < shape.V; v++) {
    let p = mass_of(r, s, v, top);
    if (p > 0.0 && kept(r, s, v, top, left)) { mass += p; }
  }
  return mass;
}

// appends a token to the row in slot b, of this workgroup the r-th: a draw from its logits
fn draw(r: u32, b: u32, now: ptr<function, array<u32, 8>>) {
  let at = (*now)[7] * shape.T + (*now)[0];
  let s = (*now)[1];
  var token = 0u;
  var top = -3e38;
  for (var v = 0u; v < shape.V; v++) {
    let z = wide[v][r] / settings.temperature;
    if (legal(s, v) && z > top) { top = z; token = v; }
  }
  var total = 0.0;
  for (var v = 0u; v < shape.V; v++) { total += mass_of(r, s, v, top); }
  let cut = settings.top_k > 0u || settings.top_p < 1.0;
  var mass = total;
  if (settings.greedy == 0u) {
    var left = 3e38;
    if (cut) {
      left = mass_kept(r, s, top, left);
      mass = mass_kept(r, s, top, left);
    }
    let goal = uniformly((*now)[2], (*now)[3], (*now)[0]) * mass;
    var sum = 0.0;
    for (var v = 0u; v < shape.V && sum <= goal; v++) {
      let p = mass_of(r, s, v, top);
      if (p > 0.0 && (!cut || kept(r, s, v, top, left))) { token = v; sum += p; }
    }
  }
  let logprob = wide[token][r] / settings.temperature - top - log(total);
  record[at] = token | (2u << 16u) | (s << 24u);
  sampled[at] = logprob;
  drawn[b * 128u + (*now)[0] % 64u] = token;
  drawn[b * 128u + 64u + (*now)[0] % 64u] = bitcast<u32>(logprob);
  if (cut) { drawn[shape.B * 128u + b * 64u + (*now)[0] % 64u] = bitcast<u32>(log(mass / total)); }
  let after = u32(max(grammar[s * shape.V + token], 0));
  (*now)[0] += 1u;
  (*now)[1] = select(after, NOTHING, grammar[settings.states * shape.V + after] != 0);
}

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) me: u32) {
  let slot = group.x * 4u + me; // threads 0 to 3 keep one row's state each
  let keeps = me < 4u && slot < shape.B;
  let b = select(0u, slot, keeps);
  var now: array<u32, 8>;
  for (var i = 0u; i < 8u; i++) { now[i] = state[b * 8u + i]; }
  var next = 0u;
  loop {
    if (me < 4u) {
      next = select(0u, 1u, keeps && now[1] != NOTHING && now[0] < now[4]);
      let position = select(0u, max(now[0], 1u) - 1u, next == 1u);
      draws[me] = next;
      owners[me] = now[7];
      positions[me] = position;
      tokens[me] = record[now[7] * shape.T + position] & 0xffffu;
    }
    let rows = workgroupUniformLoad(&draws);
    if (rows[0] + rows[1] + rows[2] + rows[3] == 0u) { break; }
    for (var c = me; c < shape.C; c += WIDTH) {
      x[c] = vec4f(embedding(0u, c), embedding(1u, c), embedding(2u, c), embedding(3u, c));
    }
    workgroupBarrier();
    for (var layer = 0u; layer < shape.L; layer++) {
      let matrices = layer * shape.matrix_stride;
      let norms = shape.norm_at + 2u * layer * shape.norm_stride;
      var inv = inverse();
      for (var pair = me; pair < (H + 2u * G) * D / 2u; pair += WIDTH) {
        let head = pair / (D / 2u);
        let column = head * D + pair % (D / 2u);
        let at = shape.qkv_at + matrices + column * shape.C;
        var z = gained(norms, at, at + D / 2u * shape.C);
        z = mat2x4f(z[0] * inv, z[1] * inv);
        if (BIAS == 1u) {
          let bias = shape.bias_at + layer * shape.bias_stride + column;
          z += mat2x4f(vec4f(scalar(bias)), vec4f(scalar(bias + D / 2u)));
        }
        if (head < H + G) {
          let i = pair % (D / 2u);
          let t = transpose(mat4x2f(turn(0u, i), turn(1u, i), turn(2u, i), turn(3u, i)));
          z = mat2x4f(z[0] * t[0] - z[1] * t[1], z[1] * t[0] + z[0] * t[1]);
        }
        wide[column] = z[0];
        wide[column + D / 2u] = z[1];
      }
      workgroupBarrier();
      for (var item = me; item < H * D / QUADS; item += WIDTH) { attend(layer, item); }
      workgroupBarrier();
      for (var c = me; c < shape.C; c += WIDTH) { x[c] += project(shape.out_at + matrices + c * shape.Q); }
      workgroupBarrier();
      inv = inverse();
      for (var f = me; f < shape.F; f += WIDTH) {
        let at = shape.gate_up_at + matrices + f * shape.C;
        let z = gained(norms + shape.norm_stride, at, at + shape.F * shape.C);
        let gate = z[0] * inv;
        wide[f] = gate / (1.0 + exp(min(-gate, vec4f(80.0)))) * z[1] * inv;
      }
      workgroupBarrier();
      for (var c = me; c < shape.C; c += WIDTH) { x[c] += down(shape.down_at + matrices + c * shape.F); }
      workgroupBarrier();
    }
    let inv = inverse();
    for (var v = me; v < shape.V; v += WIDTH) {
      let at = shape.head_at + v * shape.C;
      wide[v] = gained(shape.norm_at + 2u * shape.L * shape.norm_stride, at, at)[0] * inv;
    }
    workgroupBarrier();
    if (next == 1u) { draw(me, b, &now); }
    storageBarrier(); // the next token reads the cache that this one wrote
  }
  if (!keeps) { return; }
  for (var i = 0u; i < 8u; i++) { state[b * 8u + i] = now[i]; }
}
