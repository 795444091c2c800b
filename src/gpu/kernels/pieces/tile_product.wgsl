// what the tile loop of workgroups loads and stores in a product
const SQUARES = false;

fn terms(group: vec3u) -> vec2u {
  let start = group.z % shape.parts * shape.chunk;
  return vec2u(start, min(start + shape.chunk, shape.K));
}

fn is_along_k(of_a: bool) -> bool { return select(shape.bk, shape.ak, of_a) == 1u; }

fn source_of(group: vec3u, of_a: bool, e: u32) -> Source {
  let first = select(group.x * COLUMNS, group.y * ROWS, of_a) * 32u + e * 4u;
  let last = select(shape.J, shape.I, of_a) - 1u;
  let down = select(shape.bk, shape.ak, of_a);
  let along_k = is_along_k(of_a);
  var at = min(vec4u(0, 1, 2, 3) + first, vec4u(last)) * select(shape.bj, shape.ai, of_a);
  if (!along_k) { at = min(first, last - 3u) + vec4u(0, 1, 2, 3) * down; }
  return Source(at + group.z / shape.parts * select(shape.bz, shape.az, of_a), down, along_k);
}

fn rows_of_a(at: vec4u) -> mat4x4f { return mat4x4f(vec4f(a[at.x]), vec4f(a[at.y]), vec4f(a[at.z]), vec4f(a[at.w])); }

fn columns_of_b(at: vec4u, k: u32) -> mat4x4f {
  return mat4x4f(quad_of_b(at.x), quad_of_b(at.y), quad_of_b(at.z), quad_of_b(at.w));
}

fn finish(group: vec3u, x: u32, i: u32, left: vec4f, right: vec4f, squares: f32) {
  if (i >= shape.I) { return; }
  let row = group.z / shape.parts * shape.cz + group.z % shape.parts * shape.cp + i * shape.ci;
  var value = left;
  for (var h = 0u; h < COLUMNS; h++) {
    let j = (group.x * COLUMNS + h) * 32u + x * 4u;
    if (j < shape.J) { store((row + j) / 4u, value); }
    value = right;
  }
}
