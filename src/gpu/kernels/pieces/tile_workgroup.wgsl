// tile loop of workgroups: 8×8 threads own a tile of 32·ROWS rows and 32·COLUMNS columns, each thread 4·ROWS rows and
// 4·COLUMNS columns in registers, in quads that are 32 apart. Slices of 16 / max(ROWS, COLUMNS) k are staged in
// workgroup memory, which holds two: while one is used, the next is loaded. One barrier for each slice. Half the threads
// load and transpose 4×4 blocks of a, the other half of b. The kernel defines the range of k (terms), the blocks
// (source_of, rows_of_a, columns_of_b), whether a's squares are summed (SQUARES), and stores the sums of a row (finish).
override ROWS: u32 = 2; // 1 or 2, as COLUMNS
override COLUMNS: u32 = 2;
var<workgroup> tile: array<vec4f, 512>; // two slices, each a as [k][i / 4] and, from 128 on, b as [k][j / 4]

// four rows or columns of an operand: where they begin, scalars from a k to the next; or, unless k is contiguous, where
// four k begin
struct Source { first: vec4u, down: u32, along_k: bool }

// four k of four rows or columns, from k on; zeros past the last term
fn block_of(of_a: bool, source: Source, k: u32, end: u32) -> mat4x4f {
  var m = mat4x4f();
  if (k >= end) { return m; }
  let at = (source.first + k * source.down) / 4u;
  if (of_a) { m = rows_of_a(at); } else { m = columns_of_b(at, k); }
  if (source.along_k) { m = transpose(m); }
  return m;
}

fn stage(at: u32, quads: u32, m: mat4x4f) {
  tile[at] = m[0];
  tile[at + quads] = m[1];
  tile[at + 2u * quads] = m[2];
  tile[at + 3u * quads] = m[3];
}

@compute @workgroup_size(8, 8)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u,
        @builtin(local_invocation_index) lane: u32) {
  let span = terms(group);
  let depth = 16u / max(ROWS, COLUMNS); // k of a slice
  let of_a = lane < 32u;
  let quads = 8u * select(COLUMNS, ROWS, of_a);
  // neighbouring threads stage blocks that are neighbours in memory
  let along_k = is_along_k(of_a);
  let own = lane % 32u;
  let q = select(own / quads, own % (depth / 4u), along_k) * 4u; // first k of the block
  let e = select(own % quads, own / (depth / 4u), along_k); // which four of the tile's rows or columns
  let stages = own < quads * depth / 4u;
  let source = source_of(group, of_a, e);
  let to = select(128u, 0u, of_a) + q * quads + e;
  if (stages) { stage(to, quads, block_of(of_a, source, span.x + q, span.y)); }
  // c: the first four columns, d: the four columns 32 later; 0 to 3: the first four rows, 4 to 7: those 32 later
  //! each r 0..7
  var c$r = vec4f();
  var d$r = vec4f();
  //! end
  var squares = vec4f();
  var low_squares = vec4f();
  var used = 0u;
  for (var k0 = span.x; k0 < span.y; k0 += depth) {
    workgroupBarrier();
    var next = mat4x4f();
    if (stages) { next = block_of(of_a, source, k0 + depth + q, span.y); }
    // The bound comes from the shape (`block` is 4), so that the compiler does not unroll this loop: unrolled, it would
    // take longer to compile than the rest of the kernel.
    for (var k = 0u; k < shape.block * depth / 4u; k += 2u) {
      //! each h 0..1
      let i$h = used + (k + ${h}u) * 8u * ROWS + local.y;
      let j$h = used + 128u + (k + ${h}u) * 8u * COLUMNS + local.x;
      let u$h = tile[i$h];
      let v$h = tile[j$h];
      if (SQUARES) { squares = fma(u$h, u$h, squares); }
      //! each r 0..3
      c$r = fma(vec4f(u$h[$r]), v$h, c$r);
      //! end
      var right$h = vec4f();
      if (COLUMNS == 2u) {
        right$h = tile[j$h + 8u];
        //! each r 0..3
        d$r = fma(vec4f(u$h[$r]), right$h, d$r);
        //! end
      }
      if (ROWS == 2u) {
        let low = tile[i$h + 8u];
        if (SQUARES) { low_squares = fma(low, low, low_squares); }
        //! each r 0..3
        c${r+4} = fma(vec4f(low[$r]), v$h, c${r+4});
        //! end
        if (COLUMNS == 2u) {
          //! each r 0..3
          d${r+4} = fma(vec4f(low[$r]), right$h, d${r+4});
          //! end
        }
      }
      //! end
    }
    used = 256u - used;
    if (stages) { stage(used + to, quads, next); }
  }
  // not unrolled either
  for (var n = 0u; n < shape.block * ROWS; n++) {
    var left = mat4x4f(c0, c1, c2, c3);
    var right = mat4x4f(d0, d1, d2, d3);
    var sums = squares;
    if (n >= 4u) {
      left = mat4x4f(c4, c5, c6, c7);
      right = mat4x4f(d4, d5, d6, d7);
      sums = low_squares;
    }
    let i = (group.y * ROWS + n / 4u) * 32u + local.y * 4u + n % 4u;
    finish(group, local.x, i, pick(left, n % 4u), pick(right, n % 4u), sums[n % 4u]);
  }
}
