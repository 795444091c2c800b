// tile loop of workgroups: 8×8 threads own a 32×32 tile of c, each a 4×4 block in registers. Slices of 16 k are staged
// in 4 KiB of shared memory, with a barrier before and after each is used: half the threads load, transpose and store a
// 4×4 block of a, the other half one of b. 2 loads for 16 multiply-adds.
var<workgroup> tile: array<vec4f, 256>; // a as [k][i / 4], then b as [k][j / 4]

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(workgroup_id) group: vec3u,
        @builtin(local_invocation_id) local: vec3u, @builtin(local_invocation_index) lane: u32) {
  let z = group.z / shape.parts;
  let part = group.z % shape.parts;
  let start = part * shape.chunk;
  let end = min(start + shape.chunk, shape.K);
  // each thread stages a block of a or b; neighbouring threads stage blocks that are neighbours in memory
  let of_a = lane < 32u;
  let along_k = select(shape.bk, shape.ak, of_a) == 1u;
  let q = select(lane / 8u % 4u, lane % 4u, along_k) * 4u; // first k of the block
  let e = select(lane % 8u, lane / 4u % 8u, along_k); // which four of the tile's rows or columns
  let first = select(group.x, group.y, of_a) * 32u + e * 4u;
  let last = select(shape.J, shape.I, of_a) - 1u;
  let across = select(shape.bj, shape.ai, of_a);
  let down = select(shape.bk, shape.ak, of_a);
  var source = min(vec4u(0, 1, 2, 3) + first, vec4u(last)) * across;
  if (!along_k) { source = min(first, last - 3u) + vec4u(0, 1, 2, 3) * down; }
  source += z * select(shape.bz, shape.az, of_a);
  let to = select(128u, 0u, of_a) + q * 8u + e;
  var c0 = vec4f();
  var c1 = vec4f();
  var c2 = vec4f();
  var c3 = vec4f();
  for (var k0 = start; k0 < end; k0 += 16u) {
    let at = (source + min(k0 + q, shape.K - 4u) * down) / 4u;
    var m = mat4x4f();
    if (k0 + q < end) {
      if (of_a) { m = mat4x4f(vec4f(a[at.x]), vec4f(a[at.y]), vec4f(a[at.z]), vec4f(a[at.w])); }
      else { m = mat4x4f(quad_of_b(at.x), quad_of_b(at.y), quad_of_b(at.z), quad_of_b(at.w)); }
    }
    if (along_k) { m = transpose(m); }
    tile[to] = m[0];
    tile[to + 8u] = m[1];
    tile[to + 16u] = m[2];
    tile[to + 24u] = m[3];
    workgroupBarrier();
    // The bound 4 comes from the shape (`block`), so that the compiler does not unroll this loop: unrolled, it would
    // take longer to compile than the rest of the kernel.
    for (var s = 0u; s < shape.block; s++) {
      let i = s * 32u + local.y;
      let j = s * 32u + 128u + local.x;
      let u = transpose(mat4x4f(tile[i], tile[i + 8u], tile[i + 16u], tile[i + 24u]));
      let v = mat4x4f(tile[j], tile[j + 8u], tile[j + 16u], tile[j + 24u]);
      c0 = row(c0, u[0], v);
      c1 = row(c1, u[1], v);
      c2 = row(c2, u[2], v);
      c3 = row(c3, u[3], v);
    }
    workgroupBarrier();
  }
  let i = id.y * 4u;
  let j = id.x * 4u;
  if (i >= shape.I || j >= shape.J) { return; }
  let at = (z * shape.cz + part * shape.cp + i * shape.ci + j) / 4u;
  for (var n = 0u; n < min(shape.block, shape.I - i); n++) {
    store(at + n * (shape.ci / 4u), pick(mat4x4f(c0, c1, c2, c3), n));
  }
}
