// where the weight of a head's norm begins
fn norm_at(head: u32) -> u32 { return select(shape.k_norm, 0u, head < shape.H); }

// where head `head` of node n begins in `unnormed`
fn unnormed_at(n: u32, head: u32) -> u32 {
  return select(shape.k_at + (n * shape.G + head - shape.H) * shape.D, (n * shape.H + head) * shape.D, head < shape.H);
}
