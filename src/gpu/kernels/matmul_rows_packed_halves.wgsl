// matmul_rows_packed_halves: c[i,j] (+)= sum_k a[i,k]·b[j,k] for few rows i, with b stored in pairs of float16 numbers
// Shapes    a (I,K), b (J,K), c (I,ci), of which columns 0 to J − 1 are written; I = ROWS·GROUPS, K a multiple of 4.
//           With add 1 the product is added to c, otherwise it replaces c. With NORM, weight (K) is that of the norm;
//           with GATED, c (I,ci) has half the columns.
// Parallel  see the piece rows_product; b is read from memory once for all rows.
// Numerics  f32; b is converted to f32 as it is loaded.
//! piece b_packed_halves
//! piece rows_product
