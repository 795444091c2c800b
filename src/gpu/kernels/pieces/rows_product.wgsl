// product of few rows: eight threads share a column of c, each taking every eighth quad of k, so that neighbours read
// neighbours of b; a workgroup owns eight columns. A thread sums ROWS rows in registers; GROUPS of such threads lie in
// one workgroup, so what one loads of b the others find in the cache. The eight parts of a sum meet in shared memory,
// behind the one barrier: 256·ROWS·GROUPS bytes.
override ROWS: u32 = 1; // rows a thread sums, at most 16
override GROUPS: u32 = 1; // at most 4
struct Shape { J: u32, K: u32, ci: u32, add: u32 }
@group(0) @binding(0) var<storage, read> a: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> c: array<f32>;
@group(0) @binding(3) var<uniform> shape: Shape;
var<workgroup> part: array<f32, 64 * ROWS * GROUPS>;

@compute @workgroup_size(64, GROUPS)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
  let quads = shape.K / 4u;
  let column = min(group.x * 8u + local.x / 8u, max(shape.J, 1u) - 1u);
  let rows = local.y * ROWS * quads;
  //! each r 0..15
  var c$r = 0.0;
  //! end
  for (var q = local.x % 8u; q < quads; q += 8u) {
    let w = quad_of_b(column * quads + q);
    let at = rows + q;
    //! each r 0..15
    if (ROWS > ${r}u) { c$r += dot(a[at + ${r}u * quads], w); }
    //! end
  }
  let own = local.y * ROWS * 64u + local.x;
  //! each r 0..15
  if (ROWS > ${r}u) { part[own + ${64*r}u] = c$r; }
  //! end
  workgroupBarrier();
  for (var o = local.y * 64u + local.x; o < 8u * ROWS * GROUPS; o += 64u * GROUPS) {
    let j = group.x * 8u + o % 8u;
    let start = o / 8u * 64u + o % 8u * 8u;
    var sum = 0.0;
    for (var i = 0u; i < 8u; i++) { sum += part[start + i]; }
    if (j < shape.J) {
      let at = o / 8u * shape.ci + j;
      if (shape.add == 1u) { sum += c[at]; }
      c[at] = sum;
    }
  }
}
