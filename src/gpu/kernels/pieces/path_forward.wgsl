// The body of attention_forward and of its form for single scalars: head_quads or head_scalars before it says which.
override HEAD: u32 = 8; // D, a constant, so that loops over it unroll
struct Shape { N: u32, H: u32, G: u32 }
@group(0) @binding(0) var<storage, read> qkv: array<Kept>;
@group(0) @binding(1) var<storage, read> nodes: array<vec4u>;
@group(0) @binding(2) var<storage, read_write> out: array<Kept>;
@group(0) @binding(3) var<storage, read_write> lse: array<f32>;
@group(0) @binding(4) var<uniform> shape: Shape;

//! piece paths

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let flat = id.x + id.y * 4194240u;
  let n = flat / shape.H;
  let h = flat % shape.H;
  if (n >= shape.N) { return; }
  let D = HEAD / SIZE;
  let W = (shape.H + 2u * shape.G) * D;
  let key = (shape.H + h * shape.G / shape.H) * D;
  let value = key + shape.G * D;
  let scale = 1.0 / sqrt(f32(HEAD));
  var q: array<Part, 128 / SIZE>;
  var acc: array<Part, 128 / SIZE>;
  for (var d = 0u; d < D; d++) { q[d] = Part(qkv[n * W + h * D + d]) * scale; }
  var top = -1e30;
  var total = 0.0;
  for (var j = on_path(nodes[n].z, n); j <= n; j = on_path(j + 1u, n)) {
    let row = j * W;
    var s = 0.0;
    for (var d = 0u; d < D; d++) { s += along(q[d], Part(qkv[row + key + d])); }
    let higher = max(top, s);
    let shrink = exp(top - higher);
    let p = exp(s - higher);
    total = total * shrink + p;
    for (var d = 0u; d < D; d++) { acc[d] = acc[d] * shrink + p * Part(qkv[row + value + d]); }
    top = higher;
  }
  lse[n * shape.H + h] = top + log(total);
  for (var d = 0u; d < D; d++) { out[(n * shape.H + h) * D + d] = Kept(acc[d] / total); }
}
