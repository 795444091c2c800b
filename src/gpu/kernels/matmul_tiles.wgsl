// matmul_tiles: c[z,i,j] (+)= sum_k a[z,i,k]·b[z,k,j], any transposes through strides
//     (for sizes that are multiples of 4)
// Shapes    a (Z,I,K), b (Z,K,J), c (Z,I,J) as in matmul_blocks. Multiples of 4 are J, K, every stride except 1 and, if
//           i is contiguous in a, I. With add 1 the product is added to c. With swiglu 1 the product is dact and c gets
//           the gradient of gates and ups (see swiglu_backward): c and gate_up are (I, 2·J).
// Split     the sum over k may be split into `parts` parts of `chunk` terms (a multiple of 16): z covers Z·parts, and
//           part p adds to c from p·cp on.
// Parallel  a workgroup of 8×8 threads owns a tile of 64×64 of c, each thread 8×8 in registers: 4 loads of four scalars
//           for 64 multiply-adds. Where few such tiles cover c, ROWS and COLUMNS are 1: tiles of 32×32, 4×4 a thread.
//           Slices of 8 k (16 for 32×32) are staged in 8 KiB of shared memory, which holds two of them: while one is
//           used, the next is loaded. One barrier for each slice.
// Numerics  f32, k in order. Terms past the end of k count as 0; rows and columns past the edge are clamped on load and
//           never stored.
// Why       one pipeline for all products, because each takes time to compile; each load takes four scalars.
//! piece product_operands
//! piece b_floats
//! piece store_quad
//! piece quads
//! piece tile_product
//! piece tile_workgroup
