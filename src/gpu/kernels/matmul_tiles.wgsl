// matmul_tiles: c[z,i,j] (+)= sum_k a[z,i,k]·b[z,k,j], any transposes through strides (for sizes divisible by 4)
// Shapes    a (Z,I,K), b (Z,K,J), c (Z,I,J) as in matmul_blocks; J, K, every stride but 1 and, where i is contiguous in
//           a, I are multiples of 4. With add 1 the product is added to c. With swiglu 1 the product is dact and c the
//           gradient of gates and ups (see swiglu_backward): c and gate_up (I, 2·J).
// Split     K may be cut into `parts` of `chunk` (a multiple of 16): z covers Z·parts, and part p adds to c at p·cp on.
// Parallel  a workgroup of 8×8 threads owns a 32×32 tile of c, each thread a 4×4 block in registers. Slices of 16 k are
//           staged in 4 KiB of shared memory, a barrier before and after each is used: half the threads load, turn and
//           store a 4×4 block of a, the others one of b. 2 loads for 16 multiply-adds.
// Numerics  f32, k in order. Past the edge k counts as 0, rows and columns are clamped on load and never stored.
// Why       one pipeline for every product, as each takes its time to compile; loads of four scalars.
//! piece product_operands
//! piece b_floats
//! piece store_quad
//! piece quads
//! piece tile_workgroup
