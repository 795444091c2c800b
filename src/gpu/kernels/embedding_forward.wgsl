// embedding_forward: x[n,c] = table[token(n), c], n = (m,t): token t of batch row rows[m]. A learner's also says where
//     each token stands, for its backward pass, and what each token of the minibatch weighs in loss = Σ_t w_t·l_t:
//     token-mean m/N;  seq-mean-token-sum m/R;  seq-mean-token-mean m/(R·n_i);  seq-mean-token-sum-norm m/(R·T)
//     (DAPO; verl; GRPO; Dr. GRPO). N tokens in the mask, R rows with at least one, n_i those of row i; all over the
//     whole optimizer step, each mask with its own. knobs.aggregation is two bits each, from the lowest: of policy loss
//     and KL, of entropy, of the value loss
// Shapes    record (B,T) packed token | role << 16 | state << 24; rows batch row or 0xffffffff for none; table
//           (V,C); x (N,C). places: for each span of `span` n, those n sorted by token, in (N); after that
//           (N / span rounded up, V + 1): where in it the n of token v begin, and for v = V where those of V − 1 end.
//           Rows of none stand nowhere. minibatch (M) as rows, of the whole step; masks (5, B, T), of which policy,
//           regularizer and value are read, then (B, 3) how many tokens of a row are in those; weights (5, B, T):
//           policy loss, policy mean (m/N), KL, entropy, value loss.
// Parallel  one thread per row of x and eight of its elements, as many apart as threads share the row: x walks C/8, y
//           walks N; the rows after N are one thread per span and v, which counts the span's tokens below v and then
//           lists those that are v, and five per row of the minibatch, one for each of its weights, which join the
//           counts of all rows. V 0: no places; M 0: no weights. No shared memory.
// Numerics  f32 copy; counts exact below 2^24. A row of none is embedded as token 0; nothing downstream counts it.
alias Weight = f32; // or f16
struct Shape { N: u32, C: u32, T: u32, V: u32, span: u32, M: u32, B: u32 }
struct Knobs { temperature: f32, aggregation: f32 }
@group(0) @binding(0) var<storage, read> record: array<u32>;
@group(0) @binding(1) var<storage, read> rows: array<u32>;
@group(0) @binding(2) var<storage, read> table: array<Weight>;
@group(0) @binding(3) var<storage, read_write> x: array<f32>;
@group(0) @binding(4) var<storage, read_write> places: array<u32>;
@group(0) @binding(5) var<storage, read> minibatch: array<u32>;
@group(0) @binding(6) var<storage, read> masks: array<f32>;
@group(0) @binding(7) var<storage, read_write> weights: array<f32>;
@group(0) @binding(8) var<uniform> knobs: Knobs;
@group(0) @binding(9) var<uniform> shape: Shape;

// Passes over tokens first … end − 1 twice: how many are below v is where its places begin; then they get their n.
fn list(first: u32, end: u32, v: u32, item: u32) {
  var at = first;
  for (var turn = 0u; turn < min(2u, shape.N); turn++) {
    var n = first;
    while (n < end) {
      let row = rows[n / shape.T];
      let t = n % shape.T;
      let steps = min(shape.T - t, end - n);
      if (row != 0xffffffffu) {
        for (var i = 0u; i < steps; i++) {
          let token = record[row * shape.T + t + i] & 0xffffu;
          if (turn == 1u && token == v) { places[at] = n + i; }
          at += u32(select(token < v, token == v, turn == 1u));
        }
      }
      n += steps;
    }
    if (turn == 0u) { places[shape.N + item] = at; }
  }
}

fn factor(how: u32, tokens: f32, sequences: f32, own: f32) -> f32 {
  if (how == 1u) { return 1.0 / max(sequences, 1.0); }
  if (how == 2u) { return 1.0 / max(sequences * own, 1.0); }
  if (how == 3u) { return 1.0 / max(sequences * f32(shape.T), 1.0); }
  return 1.0 / max(tokens, 1.0);
}

// Writes weights of one kind, in their order, for all tokens of a row.
fn weigh(m: u32, kind: u32) {
  let all = shape.B * shape.T;
  var mine = 0xffffffffu;
  var own = 0.0;
  var tokens = 0.0;
  var sequences = 0.0;
  for (var i = 0u; i < shape.M; i++) {
    let row = minibatch[i];
    if (row == 0xffffffffu) { continue; }
    let count = masks[5u * all + 3u * row + kind / 2u];
    tokens += count;
    sequences += f32(count > 0.0);
    if (i == m) {
      mine = row;
      own = count;
    }
  }
  if (mine == 0xffffffffu) { return; }
  let how = (u32(knobs.aggregation) >> (2u * (max(kind, 2u) - 2u))) & 3u;
  let each = factor(select(how, 0u, kind == 1u), tokens, sequences, own);
  for (var at = mine * shape.T; at < (mine + 1u) * shape.T; at++) {
    weights[kind * all + at] = masks[kind / 2u * all + at] * each;
  }
}

@compute @workgroup_size(16, 4)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let n = id.y + id.z * 65532u;
  let step = groups.x * 16u;
  if (n >= shape.N) {
    let item = (n - shape.N) * step + id.x;
    let lists = select((shape.N + shape.span - 1u) / shape.span * (shape.V + 1u), 0u, shape.V == 0u);
    if (item < lists) {
      let v = item % (shape.V + 1u);
      let first = item / (shape.V + 1u) * shape.span;
      list(first, min(first + shape.span, shape.N), v, item);
    } else if (item - lists < 5u * shape.M) {
      weigh((item - lists) / 5u, (item - lists) % 5u);
    }
    return;
  }
  let row = rows[n / shape.T];
  var token = 0u;
  if (row != 0xffffffffu) { token = record[row * shape.T + n % shape.T] & 0xffffu; }
  for (var c = id.x; c < shape.C; c += step) { x[n * shape.C + c] = f32(table[token * shape.C + c]); }
}
