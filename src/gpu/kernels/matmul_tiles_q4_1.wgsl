// matmul_tiles_q4_1: matmul_tiles with b stored in blocks of 4-bit numbers (GGUF's Q4_1)
// Shapes    as in matmul_tiles; b is stored in the order of its scalars, and its rows are whole blocks of 32.
// Parallel  as in matmul_tiles.
// Numerics  f32; b is converted to f32 as it is loaded.
//! piece product_operands
//! piece b_q4_1
//! piece store_quad
//! piece quads
//! piece tile_product
//! piece tile_workgroup
