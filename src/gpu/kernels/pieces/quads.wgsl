// c + u·b for one row: u holds four k, and column n of b holds the n-th of these k for four columns
fn row(c: vec4f, u: vec4f, b: mat4x4f) -> vec4f {
  return fma(vec4f(u.w), b[3], fma(vec4f(u.z), b[2], fma(vec4f(u.y), b[1], fma(vec4f(u.x), b[0], c))));
}

// row r of four
fn pick(rows: mat4x4f, r: u32) -> vec4f {
  return select(select(rows[0], rows[1], r == 1u), select(rows[2], rows[3], r == 3u), r > 1u);
}
