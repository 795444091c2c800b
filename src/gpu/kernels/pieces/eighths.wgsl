// rows of up to 32 scalars that eight lanes hold together, a lane every eighth

// what a lane holds of a row in eights, at its d-th
fn part_of(row: vec4f, d: u32) -> f32 {
  return select(select(row.x, row.y, d >= 8u), select(row.z, row.w, d >= 24u), d >= 16u);
}

// the d-th scalar of a row that eight lanes hold
fn from_row(row: vec4f, d: u32) -> f32 {
  let n = d % 8u;
  return part_of(vec4f(subgroupShuffle(row.x, n), subgroupShuffle(row.y, n),
                       subgroupShuffle(row.z, n), subgroupShuffle(row.w, n)), d);
}
