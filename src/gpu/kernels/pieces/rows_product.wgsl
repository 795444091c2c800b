// product of few rows: LANES threads share four columns of b. Each takes every LANES-th quad of k, so that neighbouring
// threads read neighbouring memory of b. A workgroup owns 4·WIDTH/LANES columns. A thread sums ROWS rows of its columns
// in registers. A workgroup has GROUPS groups of threads, each with its own rows, so that what one group loads of b the
// others find in the cache. The parts of a sum are added up in shared memory (16·WIDTH·GROUPS·ROWS bytes), after a
// barrier. With NORM the rows of a are normalised as by rmsnorm_forward: each workgroup first sums their squares, with
// two more barriers. With GATED b (2·F,K) has the rows of gates, then those of ups, and c = silu(gate)·up as by
// swiglu_forward: of the four columns that threads share, two are gates and two are their ups.
override ROWS: u32 = 1; // rows that a thread sums, at most 4
override GROUPS: u32 = 1; // groups of threads, with ROWS rows each
override WIDTH: u32 = 64; // threads of a group
override LANES: u32 = 8; // threads that share four columns
override NORM: u32 = 0; // 1: a is normalised and multiplied by weight; 0: another tensor is bound in its place
override EPS: f32 = 1e-5; // of the norm
override GATED: u32 = 0;
struct Shape { J: u32, K: u32, ci: u32, add: u32 }
@group(0) @binding(0) var<storage, read> a: array<vec4f>;
@group(0) @binding(2) var<storage, read> weight: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> c: array<f32>;
@group(0) @binding(4) var<uniform> shape: Shape;
var<workgroup> part: array<vec4f, WIDTH * GROUPS * ROWS>;

@compute @workgroup_size(WIDTH, GROUPS)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
  let quads = shape.K / 4u;
  let across = WIDTH / LANES; // quads of columns per workgroup
  let width = 4u >> GATED; // columns of c per quad
  let J = max(shape.J >> GATED, 1u); // columns of c
  let columns = group.x * across * width;
  let first = columns + local.x / LANES * width;
  let ups = select(vec4u(), vec4u(0, 0, J - 2u, J - 2u), GATED == 1u);
  let last = select(vec4u(J - 1u), vec4u(J - 1u, J - 1u, 2u * J - 1u, 2u * J - 1u), GATED == 1u);
  let own = min(vec4u(0, 1, 2, 3) + first + ups, last) * quads;
  let rows = local.y * ROWS * quads;
  var scales = vec4f(1.0);
  if (NORM == 1u) {
    var squares = vec4f();
    for (var q = rows + local.x; q < rows + quads; q += WIDTH) {
      //! each r 0..3
      if (ROWS > ${r}u) { squares[${r}] += dot(a[q + ${r}u * quads], a[q + ${r}u * quads]); }
      //! end
    }
    part[local.y * WIDTH + local.x] = squares;
    workgroupBarrier();
    var sum = vec4f();
    for (var i = 0u; i < WIDTH; i++) { sum += part[local.y * WIDTH + i]; }
    workgroupBarrier();
    scales = 1.0 / sqrt(sum / f32(shape.K) + EPS);
  }
  //! each r 0..3
  var c$r = vec4f();
  //! end
  for (var q = local.x % LANES; q < quads; q += LANES) {
    let w = mat4x4f(quad_of_b(own.x + q), quad_of_b(own.y + q), quad_of_b(own.z + q), quad_of_b(own.w + q));
    let at = rows + q;
    var factor = vec4f(1.0);
    if (NORM == 1u) { factor = weight[q]; }
    //! each r 0..3
    if (ROWS > ${r}u) { c$r += (a[at + ${r}u * quads] * factor) * w; }
    //! end
  }
  let to = local.y * ROWS * WIDTH + local.x;
  //! each r 0..3
  if (ROWS > ${r}u) { part[to + ${r}u * WIDTH] = c$r * scales[${r}]; }
  //! end
  workgroupBarrier();
  for (var o = local.y * WIDTH + local.x; o < across * ROWS * GROUPS; o += WIDTH * GROUPS) {
    var sum = vec4f();
    for (var i = 0u; i < LANES; i++) { sum += part[o * LANES + i]; }
    if (GATED == 1u) {
      let gates = sum.xy;
      sum = vec4f(gates / (1.0 + exp(min(-gates, vec2f(80.0)))) * sum.zw, 0.0, 0.0);
    }
    let j = columns + o % across * width;
    let at = o / across * shape.ci + j;
    for (var n = 0u; n < width && j + n < J; n++) {
      c[at + n] = select(sum[n], c[at + n] + sum[n], shape.add == 1u);
    }
  }
}
