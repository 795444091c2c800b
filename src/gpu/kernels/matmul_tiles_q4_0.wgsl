// matmul_tiles_q4_0: matmul_tiles with b in blocks of 4 bits around 0, GGUF's Q4_0
// Shapes    as matmul_tiles; b's scalars in the order of their memory, rows in whole blocks of 32.
// Parallel  as matmul_tiles.
// Numerics  f32; b is converted to f32 as it is loaded.
//! piece product_operands
//! piece b_q4_0
//! piece store_quad
//! piece quads
//! piece tile_workgroup
