// tile loop of subgroups: a thread owns 16 rows and 4 columns in registers; all threads of a workgroup own the same
// rows. Each of eight lanes loads two quads of a, which are broadcast. The kernel defines the range of k (terms), the
// number of rows (rows_from) and where they begin (begin); it loads four k (rows_of_a, columns_of_b), ends the sum
// (summed), and stores four columns of a row (finish). Loop bounds depend only on the workgroup, because broadcasts
// need all lanes.
@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32,
        @builtin(subgroup_invocation_id) lane: u32) {
  var at = begin(group, thread, lane);
  //! each r 0..15
  var c$r = vec4f();
  //! end
  let span = terms(group);
  for (var k = span.x; k < span.y; k += 4u) {
    let a = rows_of_a(&at, k);
    let b = columns_of_b(&at, k);
    //! each g 0..3
    let u$g = turned(mat4x4f(subgroupBroadcast(a.near, ${g}u), subgroupBroadcast(a.near, ${g+4}u),
                             subgroupBroadcast(a.far, ${g}u), subgroupBroadcast(a.far, ${g+4}u)), at.turn_a);
    //! each q 0..3
    c${4*g+q} = row(c${4*g+q}, u$g[$q], b);
    //! end
    //! end
  }
  summed(&at);
  // The bound 16 comes from the shape (`block`), so that the compiler does not unroll this loop: unrolled, its stores
  // would take longer to compile than the rest of the kernel.
  for (var n = 0u; n < min(shape.block, rows_from(group)); n++) {
    var out = mat4x4f(c0, c1, c2, c3);
    if (n >= 4u) { out = mat4x4f(c4, c5, c6, c7); }
    if (n >= 8u) { out = mat4x4f(c8, c9, c10, c11); }
    if (n >= 12u) { out = mat4x4f(c12, c13, c14, c15); }
    finish(at, n, pick(out, n % 4u));
  }
}

// the two quads of a that a lane loads: of one row or k, and of the one two later
struct Rows { near: vec4f, far: vec4f }

// m, or its transpose if `turn`. Uses selects, because a branch costs more if lanes take both sides
fn turned(m: mat4x4f, turn: bool) -> mat4x4f {
  return mat4x4f(m[0].x, select(m[0].y, m[1].x, turn), select(m[0].z, m[2].x, turn), select(m[0].w, m[3].x, turn),
    select(m[1].x, m[0].y, turn), m[1].y, select(m[1].z, m[2].y, turn), select(m[1].w, m[3].y, turn),
    select(m[2].x, m[0].z, turn), select(m[2].y, m[1].z, turn), m[2].z, select(m[2].w, m[3].z, turn),
    select(m[3].x, m[0].w, turn), select(m[3].y, m[1].w, turn), select(m[3].z, m[2].w, turn), m[3].w);
}
