// one row of c against four columns: its four k are u, column n of b the n-th k
fn row(c: vec4f, u: vec4f, b: mat4x4f) -> vec4f {
  return fma(vec4f(u.w), b[3], fma(vec4f(u.z), b[2], fma(vec4f(u.y), b[1], fma(vec4f(u.x), b[0], c))));
}

// the r-th of four rows
fn pick(rows: mat4x4f, r: u32) -> vec4f {
  return select(select(rows[0], rows[1], r == 1u), select(rows[2], rows[3], r == 3u), r > 1u);
}
