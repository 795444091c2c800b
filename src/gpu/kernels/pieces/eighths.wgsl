// rows of up to 32 scalars that are spread over eight lanes: each lane holds every eighth scalar

// the lane's own scalar of a row among scalars 8·⌊d/8⌋ to 8·⌊d/8⌋ + 7
fn part_of(row: vec4f, d: u32) -> f32 {
  return select(select(row.x, row.y, d >= 8u), select(row.z, row.w, d >= 24u), d >= 16u);
}

// scalar d of a row, from the lane that holds it
fn from_row(row: vec4f, d: u32) -> f32 {
  let n = d % 8u;
  return part_of(vec4f(subgroupShuffle(row.x, n), subgroupShuffle(row.y, n),
                       subgroupShuffle(row.z, n), subgroupShuffle(row.w, n)), d);
}
