// operands (in quads) and sizes of a product; another piece binds b
alias A = f32; // or f16, and so may the other aliases
alias C = f32;
alias Kept = f32;
struct Shape {
  I: u32, J: u32, K: u32, ai: u32, ak: u32, az: u32, bk: u32, bj: u32, bz: u32, ci: u32, cz: u32,
  parts: u32, chunk: u32, cp: u32, add: u32, block: u32, swiglu: u32,
}
@group(0) @binding(0) var<storage, read> a: array<vec4<A>>;
@group(0) @binding(2) var<storage, read> gate_up: array<vec4<Kept>>; // without swiglu another tensor is bound here
@group(0) @binding(3) var<storage, read_write> c: array<vec4<C>>;
@group(0) @binding(4) var<uniform> shape: Shape;
