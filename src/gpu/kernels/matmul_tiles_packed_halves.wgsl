// matmul_tiles_packed_halves: matmul_tiles with b stored in pairs of float16 numbers
// Shapes    as in matmul_tiles; b is stored in the order of its scalars.
// Parallel  as in matmul_tiles.
// Numerics  f32; b is converted to f32 as it is loaded.
//! piece product_operands
//! piece b_packed_halves
//! piece store_quad
//! piece quads
//! piece tile_product
//! piece tile_workgroup
