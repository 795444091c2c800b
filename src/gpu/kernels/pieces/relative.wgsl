// how a value compares with the group that it is of: `join` takes each value of the group once, this one included
struct Compared { n: f32, sum: f32, low: f32, high: f32, largest: f32 } // sum, low and high of differences from `mine`, which are small and often exact
fn join(group: Compared, value: f32, mine: f32) -> Compared {
  let d = value - mine;
  return Compared(group.n + 1.0, group.sum + d, min(group.low, d), max(group.high, d), max(group.largest, abs(value)));
}
const NO_MEMBERS = Compared(0.0, 0.0, 0.0, 0.0, 1.0);

// whether `mine` has an advantage: else it is exactly 0
fn differs(group: Compared) -> bool {
  return group.n > 1.0 && group.high - group.low >= 1e-6 && !(abs(group.sum / group.n) < 1e-6 * group.largest);
}

// `squares` is the sum of squared deviations from the group's mean
fn relative(group: Compared, squares: f32, mine: f32, baseline: f32) -> f32 {
  let mean = group.sum / group.n;
  if (baseline == BASELINE_MEAN_OVER_STD) { return -mean / (sqrt(squares / (group.n - 1.0)) + 1e-6); }
  if (baseline == BASELINE_MEAN_OVER_MEAN) { return select(0.0, -mean / (mine + mean + 1e-6), mine + mean > 0.0); }
  if (baseline == BASELINE_LEAVE_ONE_OUT) { return -mean * group.n / (group.n - 1.0); }
  return -mean;
}
