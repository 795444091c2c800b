// matmul_broadcast: c[z,i,j] (+)= sum_k a[z,i,k]·b[z,k,j], any transposes through strides
//     (subgroup variant, for sizes that are multiples of 4)
// Shapes    a (Z,I,K), b (Z,K,J), c (Z,I,J) as in matmul_blocks. Multiples of 4 are J, K, every stride except 1 and,
//           unless k is contiguous in a, I. With add 1 the product is added to c. With swiglu 1 the product is dact and
//           c gets the gradient of gates and ups (see swiglu_backward): c and gate_up are (I, 2·J).
// Split     the sum over k may be split into `parts` parts of `chunk` terms (a multiple of 16): z covers Z·parts, and
//           part p adds to c from p·cp on.
// Parallel  a thread owns 16 rows and 4 columns of c in registers; x covers J/(4·WIDTH), y covers I/16, z covers Z. 6
//           loads for 256 multiply-adds. No shared memory, no barrier; subgroups of 8 or more.
// Numerics  f32, k in order. Rows and columns past the edge are clamped on load and never stored.
// Why       each set of constants is compiled separately, which takes most of a second on software adapters. So the
//           strides of a and b are in the shape; transposing what was loaded costs little compared with loading it.
enable subgroups;
override WIDTH: u32 = 16; // threads of a workgroup
//! piece product_operands
//! piece b_floats
//! piece store_quad
//! piece quads
//! piece tile_subgroup

struct Operands {
  turn_a: bool, turn_b: bool, pa: vec2u, a_next: u32, pb: u32, b_step: u32, b_next: u32, pc: u32, inside: bool,
}

fn terms(group: vec3u) -> vec2u {
  let k0 = group.z % shape.parts * shape.chunk;
  return vec2u(k0, min(k0 + shape.chunk, shape.K));
}

fn rows_from(group: vec3u) -> u32 { return shape.I - group.y * 16u; }

fn begin(group: vec3u, thread: u32, lane: u32) -> Operands {
  let i0 = group.y * 16u;
  let column = (group.x * WIDTH + thread) * 4u;
  let j = min(column, shape.J - 4u);
  let z = group.z / shape.parts;
  let part = group.z % shape.parts;
  let k0 = terms(group).x;
  // If k is contiguous in a, a lane loads four k of row i0 + 4·(lane % 4) + lane / 4 and of the row two later.
  // Otherwise it loads four rows, from i0 + 4·(lane % 4) on, of k + lane / 4 and of the k two later.
  let near = vec2u(lane % 8u / 4u) + vec2u(0, 2);
  let far = 4u * (lane % 4u) + i0;
  let along_k = vec2<bool>(shape.ak == 1u, shape.bk == 1u);
  let of_rows = min(near + far, vec2u(shape.I - 1u)) * shape.ai;
  let of_columns = near * shape.ak + min(far, shape.I - 4u);
  let a_next = select(shape.ak, 1u, along_k.x);
  let b_next = select(shape.bk, 1u, along_k.y);
  return Operands(
    !along_k.x, along_k.y,
    (select(of_columns, of_rows, along_k.x) + z * shape.az) / 4u + k0 / 4u * a_next, a_next,
    (z * shape.bz + j * shape.bj) / 4u + k0 / 4u * b_next, select(shape.bk, shape.bj, along_k.y) / 4u, b_next,
    (z * shape.cz + part * shape.cp + i0 * shape.ci + j) / 4u, column < shape.J);
}

// Loads in two turns of a loop that the compiler cannot unroll, which compiles faster and runs as fast.
fn rows_of_a(at: ptr<function, Operands>, k: u32) -> Rows {
  var rows: Rows;
  var own = (*at).pa.x;
  var q = 0u;
  loop {
    rows = Rows(rows.far, vec4f(a[own]));
    own = (*at).pa.y;
    continuing {
      q += 8u;
      break if q >= shape.block;
    }
  }
  (*at).pa += (*at).a_next;
  return rows;
}

fn columns_of_b(at: ptr<function, Operands>, k: u32) -> mat4x4f {
  var m: mat4x4f;
  var p = (*at).pb;
  var q = 0u;
  loop {
    m = mat4x4f(m[2], m[3], quad_of_b(p), quad_of_b(p + (*at).b_step));
    p += 2u * (*at).b_step;
    continuing {
      q += 8u;
      break if q >= shape.block;
    }
  }
  (*at).pb += (*at).b_next;
  return turned(m, (*at).turn_b);
}

fn summed(at: ptr<function, Operands>) {}

fn finish(at: Operands, n: u32, value: vec4f) {
  if (at.inside) { store(at.pc + n * (shape.ci / 4u), value); }
}
