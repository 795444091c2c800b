// The body of attention_backward_query and of its form for single scalars: head_quads or head_scalars before it says which.
override HEAD: u32 = 8; // D, a constant, so that loops over it unroll
struct Shape { N: u32, H: u32, G: u32 }
@group(0) @binding(0) var<storage, read> qkv: array<Kept>;
@group(0) @binding(1) var<storage, read> nodes: array<vec4u>;
@group(0) @binding(2) var<storage, read> out: array<Kept>;
@group(0) @binding(3) var<storage, read> dout: array<Part>;
@group(0) @binding(4) var<storage, read> lse: array<f32>;
@group(0) @binding(5) var<storage, read> table: array<Turns>;
@group(0) @binding(6) var<storage, read_write> delta: array<f32>;
@group(0) @binding(7) var<storage, read_write> dqkv: array<Part>;
@group(0) @binding(8) var<uniform> shape: Shape;

//! piece paths

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let flat = id.x + id.y * 4194240u;
  let n = flat / shape.H;
  let h = flat % shape.H;
  if (n >= shape.N) { return; }
  let D = HEAD / SIZE;
  let W = (shape.H + 2u * shape.G) * D;
  let q = n * W + h * D;
  let o = (n * shape.H + h) * D;
  let key = (shape.H + h * shape.G / shape.H) * D;
  let value = key + shape.G * D;
  let scale = 1.0 / sqrt(f32(HEAD));
  let norm = lse[n * shape.H + h];
  var dq: array<Part, 128 / SIZE>;
  var sum = 0.0;
  for (var d = 0u; d < D; d++) { sum += along(Part(out[o + d]), dout[o + d]); }
  delta[n * shape.H + h] = sum;
  for (var j = on_path(nodes[n].z, n); j <= n; j = on_path(j + 1u, n)) {
    let row = j * W;
    var s = 0.0;
    var dp = 0.0;
    for (var d = 0u; d < D; d++) {
      s += along(Part(qkv[q + d]), Part(qkv[row + key + d]));
      dp += along(dout[o + d], Part(qkv[row + value + d]));
    }
    let ds = exp(s * scale - norm) * (dp - sum) * scale;
    for (var d = 0u; d < D; d++) { dq[d] += ds * Part(qkv[row + key + d]); }
  }
  let half = D / 2u;
  for (var i = 0u; i < half; i++) {
    let turn = cos_sin(table[nodes[n].y * half + i]);
    dqkv[q + i] = dq[i] * turn[0] + dq[i + half] * turn[1];
    dqkv[q + i + half] = dq[i + half] * turn[0] - dq[i] * turn[1];
  }
}
