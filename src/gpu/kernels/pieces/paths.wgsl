// The walk along the path to a node of trees of tokens. `nodes` are in depth-first order, as (token, position, root, end):
// root is the first node of its tree, and node j and those under it are j … end − 1.

// the first node from `start` on that is on the path to node n, or n or a later one; skips those that end before n with all
// nodes under them
fn on_path(start: u32, n: u32) -> u32 {
  var j = start;
  while (j < n) {
    let end = nodes[j].w;
    if (end > n) { break; }
    j = max(end, j + 1u);
  }
  return j;
}
