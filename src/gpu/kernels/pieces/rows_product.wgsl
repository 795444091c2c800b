// product of few rows: LANES threads share four columns of c. Each takes every LANES-th quad of k, so that neighbouring
// threads read neighbouring memory of b. A workgroup owns 4·WIDTH/LANES columns. A thread sums ROWS rows of its columns
// in registers. A workgroup has GROUPS groups of threads, each with its own rows, so that what one group loads of b the
// others find in the cache. The parts of a sum are added up in shared memory (16·WIDTH·GROUPS·ROWS bytes), after the
// only barrier.
override ROWS: u32 = 1; // rows that a thread sums, at most 4
override GROUPS: u32 = 1; // groups of threads, with ROWS rows each
override WIDTH: u32 = 64; // threads of a group
override LANES: u32 = 8; // threads that share four columns
struct Shape { J: u32, K: u32, ci: u32, add: u32 }
@group(0) @binding(0) var<storage, read> a: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> c: array<f32>;
@group(0) @binding(3) var<uniform> shape: Shape;
var<workgroup> part: array<vec4f, WIDTH * GROUPS * ROWS>;

@compute @workgroup_size(WIDTH, GROUPS)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
  let quads = shape.K / 4u;
  let across = WIDTH / LANES; // quads of columns per workgroup
  let columns = group.x * across * 4u;
  let own = min(vec4u(0, 1, 2, 3) + columns + local.x / LANES * 4u, vec4u(max(shape.J, 1u) - 1u)) * quads;
  let rows = local.y * ROWS * quads;
  //! each r 0..3
  var c$r = vec4f();
  //! end
  for (var q = local.x % LANES; q < quads; q += LANES) {
    let w = mat4x4f(quad_of_b(own.x + q), quad_of_b(own.y + q), quad_of_b(own.z + q), quad_of_b(own.w + q));
    let at = rows + q;
    //! each r 0..3
    if (ROWS > ${r}u) { c$r += a[at + ${r}u * quads] * w; }
    //! end
  }
  let to = local.y * ROWS * WIDTH + local.x;
  //! each r 0..3
  if (ROWS > ${r}u) { part[to + ${r}u * WIDTH] = c$r; }
  //! end
  workgroupBarrier();
  for (var o = local.y * WIDTH + local.x; o < across * ROWS * GROUPS; o += WIDTH * GROUPS) {
    var sum = vec4f();
    for (var i = 0u; i < LANES; i++) { sum += part[o * LANES + i]; }
    let j = columns + o % across * 4u;
    let at = o / across * shape.ci + j;
    for (var n = 0u; n < 4u && j + n < shape.J; n++) {
      c[at + n] = select(sum[n], c[at + n] + sum[n], shape.add == 1u);
    }
  }
}
