// sums, maxima and the distribution of a row of logits, for a workgroup of 256 threads; all threads get the results
var<workgroup> shared_parts: array<vec2f, 256>;
var<workgroup> shared_sixteenths: array<vec2f, 16>;

// the sum of the threads' `own`, always in the same order
fn sum_of(thread: u32, own: vec2f) -> vec2f {
  workgroupBarrier(); // earlier reads of shared memory are done
  shared_parts[thread] = own;
  workgroupBarrier();
  if (thread < 16u) {
    var sum = vec2f();
    for (var i = 0u; i < 16u; i++) { sum += shared_parts[thread * 16u + i]; }
    shared_sixteenths[thread] = sum;
  }
  workgroupBarrier();
  var sum = vec2f();
  for (var i = 0u; i < 16u; i++) { sum += shared_sixteenths[i]; }
  return sum;
}

// whether a (logit, id) comes before b: a higher logit does, on a tie the lower id. Ids are exact in f32 below 2^24
fn leads(a: vec2f, b: vec2f) -> bool { return a.x > b.x || (a.x == b.x && a.y < b.y); }

// the first of the threads' `own`, in that order
fn first_of(thread: u32, own: vec2f) -> vec2f {
  workgroupBarrier();
  shared_parts[thread] = own;
  workgroupBarrier();
  if (thread < 16u) {
    var first = shared_parts[thread * 16u];
    for (var i = 1u; i < 16u; i++) {
      let other = shared_parts[thread * 16u + i];
      first = select(first, other, leads(other, first));
    }
    shared_sixteenths[thread] = first;
  }
  workgroupBarrier();
  var first = shared_sixteenths[0];
  for (var i = 1u; i < 16u; i++) { first = select(first, shared_sixteenths[i], leads(shared_sixteenths[i], first)); }
  return first;
}

const NONE = vec2f(-3e38, 16777216.0); // comes after every logit

// the first (logit, id) of the row that comes after `last`
fn next_of(thread: u32, row: u32, V: u32, last: vec2f) -> vec2f {
  var own = NONE;
  for (var v = thread; v < V; v += 256u) {
    let one = vec2f(logits[row + v], f32(v));
    if (leads(last, one) && leads(one, own)) { own = one; }
  }
  return first_of(thread, own);
}

// sum_v exp(z_v / temperature − top)
fn mass_of(thread: u32, row: u32, V: u32, temperature: f32, top: f32) -> f32 {
  var sum = 0.0;
  for (var v = thread; v < V; v += 256u) { sum += exp(logits[row + v] / temperature - top); }
  return sum_of(thread, vec2f(sum, 0.0)).x;
}
