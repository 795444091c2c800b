// matmul_rows_floats: c[i,j] (+)= sum_k a[i,k]·b[j,k] for few rows i, b in f32
// Shapes    a (I,K), b (J,K), c (I,ci) from its first column on; I = ROWS·GROUPS, K a multiple of 4. add 1 adds to c.
// Parallel  as the piece rows_product: b is read from memory once for all rows.
// Numerics  f32; b is widened where it is loaded.
//! piece b_floats
//! piece rows_product
