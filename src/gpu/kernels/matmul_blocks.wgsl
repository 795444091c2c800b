// matmul_blocks: c[z,i,j] (+)= sum_k a[z,i,k]·b[z,k,j], any transposes through strides
//     (barrier-free variant, for any sizes)
// Shapes    a (Z,I,K), b (Z,K,J), c (Z,I,J), with element (z,i,k) of a at z·az + i·ai + k·ak, likewise for b, and
//           element (z,i,j) of c at z·cz + i·ci + j. With add 1 the product is added to c. With swiglu 1 the product is
//           dact and c gets the gradient of gates and ups (see swiglu_backward): c and gate_up are (I, 2·J).
// Split     the sum over k may be split into `parts` parts of `chunk` terms: z covers Z·parts, and part p adds to c
//           from p·cp on.
// Parallel  a thread owns 8 rows and 8 columns of c in registers; its columns are `across` apart. `across` threads
//           share the same rows, the next `across` threads of the workgroup have the next 8 rows. x covers
//           J/(8·across), y covers I·across/(8·WIDTH), z covers Z. 16 loads for 64 multiply-adds; no shared memory, no
//           barrier.
// Numerics  f32, k in order. Rows and columns past the edge are clamped on load and never stored.
// Why       one pipeline for all products: sizes come from the shape, because each set of constants is compiled
//           separately.
override WIDTH: u32 = 32; // threads of a workgroup
alias A = f32; // or f16, and so may the other aliases
alias B = f32;
alias C = f32;
alias Kept = f32;
struct Shape {
  I: u32, J: u32, K: u32, ai: u32, ak: u32, az: u32, bk: u32, bj: u32, bz: u32, ci: u32, cz: u32,
  parts: u32, chunk: u32, cp: u32, add: u32, block: u32, swiglu: u32, across: u32,
}
@group(0) @binding(0) var<storage, read> a: array<A>;
@group(0) @binding(1) var<storage, read> b: array<B>;
@group(0) @binding(2) var<storage, read> gate_up: array<Kept>; // without swiglu another tensor is bound here
@group(0) @binding(3) var<storage, read_write> c: array<C>;
@group(0) @binding(4) var<uniform> shape: Shape;

//! piece quads

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let i0 = (group.y * (WIDTH / shape.across) + thread / shape.across) * 8u;
  let j = group.x * 8u * shape.across + thread % shape.across;
  if (i0 >= shape.I || j >= shape.J) { return; }
  let z = group.z / shape.parts;
  let k0 = group.z % shape.parts * shape.chunk;
  let lo = min(vec4u(j) + vec4u(0, 1, 2, 3) * shape.across, vec4u(shape.J - 1u)) * shape.bj;
  let hi = min(vec4u(j) + vec4u(4, 5, 6, 7) * shape.across, vec4u(shape.J - 1u)) * shape.bj;
  let top = min(vec4u(i0) + vec4u(0, 1, 2, 3), vec4u(shape.I - 1u)) * shape.ai;
  let low = min(vec4u(i0) + vec4u(4, 5, 6, 7), vec4u(shape.I - 1u)) * shape.ai;
  var pa = z * shape.az + k0 * shape.ak;
  var pb = z * shape.bz + k0 * shape.bk;
  //! each r 0..7
  var c$r = vec4f();
  var d$r = vec4f();
  //! end
  for (var k = k0; k < min(k0 + shape.chunk, shape.K); k++) {
    let bc = vec4f(vec4(b[pb + lo.x], b[pb + lo.y], b[pb + lo.z], b[pb + lo.w]));
    let bd = vec4f(vec4(b[pb + hi.x], b[pb + hi.y], b[pb + hi.z], b[pb + hi.w]));
    //! each r 0..3
    let a$r = vec4f(f32(a[pa + top[$r]]));
    c$r = fma(a$r, bc, c$r);
    d$r = fma(a$r, bd, d$r);
    //! end
    //! each r 0..3
    let a${r+4} = vec4f(f32(a[pa + low[$r]]));
    c${r+4} = fma(a${r+4}, bc, c${r+4});
    d${r+4} = fma(a${r+4}, bd, d${r+4});
    //! end
    pa += shape.ak;
    pb += shape.bk;
  }
  // The bound 8 comes from the shape (`block`), so that the compiler does not unroll these loops: unrolled, the stores
  // would take longer to compile than the rest of the kernel.
  for (var n = 0u; n < min(shape.block, shape.I - i0); n++) {
    var left = mat4x4f(c0, c1, c2, c3);
    var right = mat4x4f(d0, d1, d2, d3);
    if (n >= 4u) {
      left = mat4x4f(c4, c5, c6, c7);
      right = mat4x4f(d4, d5, d6, d7);
    }
    let c_row = pick(left, n % 4u);
    let d_row = pick(right, n % 4u);
    var at = z * shape.cz + group.z % shape.parts * shape.cp + (i0 + n) * shape.ci + j;
    for (var column = j; column < min(shape.J, j + 8u * shape.across); column += shape.across) {
      let q = (column - j) / shape.across;
      let row = select(c_row, d_row, q > 3u);
      var sum = select(select(row.x, row.y, q % 4u == 1u), select(row.z, row.w, q % 4u == 3u), q % 4u > 1u);
      if (shape.swiglu == 1u) {
        let gate = f32(gate_up[at]);
        let s = 1.0 / (1.0 + exp(min(-gate, 80.0)));
        let up = f32(gate_up[at + shape.J]);
        c[at + shape.J] = C(sum * gate * s);
        sum *= up * s * (1.0 + gate * (1.0 - s));
      }
      if (shape.add == 1u) { sum += f32(c[at]); }
      c[at] = C(sum);
      at += shape.across;
    }
  }
}
