// matmul_rows_packed_halves: c[i,j] (+)= sum_k a[i,k]·b[j,k] for few rows i, b in pairs of halves
// Shapes    a (I,K), b (J,K), c (I,ci) from its first column on; I = ROWS·GROUPS, K a multiple of 4. add 1 adds to c.
// Parallel  as the piece rows_product: b is read from memory once for all rows.
// Numerics  f32; b is widened where it is loaded.
//! piece b_packed_halves
//! piece rows_product
