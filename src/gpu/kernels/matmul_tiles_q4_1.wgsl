// matmul_tiles_q4_1: matmul_tiles with b in blocks of 4 bits, GGUF's Q4_1
// Shapes    as matmul_tiles; b's scalars in the order of their memory, rows in whole blocks of 32.
// Parallel  as matmul_tiles.
// Numerics  f32; b is converted to f32 as it is loaded.
//! piece product_operands
//! piece b_q4_1
//! piece store_quad
//! piece quads
//! piece tile_workgroup
