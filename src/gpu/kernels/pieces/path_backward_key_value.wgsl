// The body of attention_backward_key_value and of its form for single scalars: head_quads or head_scalars before it says which.
override HEAD: u32 = 8; // D, a constant, so that loops over it unroll
struct Shape { N: u32, H: u32, G: u32 }
@group(0) @binding(0) var<storage, read> qkv: array<Kept>;
@group(0) @binding(1) var<storage, read> nodes: array<vec4u>;
@group(0) @binding(2) var<storage, read> dout: array<Part>;
@group(0) @binding(3) var<storage, read> lse: array<f32>;
@group(0) @binding(4) var<storage, read> delta: array<f32>;
@group(0) @binding(5) var<storage, read> table: array<Turns>;
@group(0) @binding(6) var<storage, read_write> dqkv: array<Part>;
@group(0) @binding(7) var<uniform> shape: Shape;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let flat = id.x + id.y * 4194240u;
  let j = flat / shape.G;
  let g = flat % shape.G;
  if (j >= shape.N) { return; }
  let D = HEAD / SIZE;
  let W = (shape.H + 2u * shape.G) * D;
  let key = j * W + (shape.H + g) * D;
  let value = key + shape.G * D;
  let each = shape.H / shape.G;
  let scale = 1.0 / sqrt(f32(HEAD));
  var dk: array<Part, 128 / SIZE>;
  var dv: array<Part, 128 / SIZE>;
  for (var i = j; i < min(nodes[j].w, shape.N); i++) {
    for (var h = g * each; h < (g + 1u) * each; h++) {
      let q = i * W + h * D;
      let o = (i * shape.H + h) * D;
      var s = 0.0;
      var dp = 0.0;
      for (var d = 0u; d < D; d++) {
        s += along(Part(qkv[q + d]), Part(qkv[key + d]));
        dp += along(dout[o + d], Part(qkv[value + d]));
      }
      let p = exp(s * scale - lse[i * shape.H + h]);
      let ds = p * (dp - delta[i * shape.H + h]) * scale;
      for (var d = 0u; d < D; d++) {
        dk[d] += ds * Part(qkv[q + d]);
        dv[d] += p * dout[o + d];
      }
    }
  }
  let half = D / 2u;
  for (var i = 0u; i < half; i++) {
    let turn = cos_sin(table[nodes[j].y * half + i]);
    dqkv[key + i] = dk[i] * turn[0] + dk[i + half] * turn[1];
    dqkv[key + i + half] = dk[i + half] * turn[0] - dk[i] * turn[1];
    dqkv[value + i] = dv[i];
    dqkv[value + i + half] = dv[i + half];
  }
}
