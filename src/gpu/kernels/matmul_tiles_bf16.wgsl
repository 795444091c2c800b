// matmul_tiles_bf16: matmul_tiles with b in pairs of bfloat16
// Shapes    as matmul_tiles; b's scalars in the order of their memory.
// Parallel  as matmul_tiles.
// Numerics  f32; b is converted to f32 as it is loaded.
//! piece product_operands
//! piece b_bf16
//! piece store_quad
//! piece quads
//! piece tile_workgroup
