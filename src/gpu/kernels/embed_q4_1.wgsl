// embed_q4_1: x[n] = row of the token of seat n in a table that is stored in blocks of GGUF's Q4_1
// Shapes    table b (rows,C), with the rows of tokens from `first` on; seats (·), each with one token of the pass, as
//           (token, position, row, tokens left to draw); x (N,C); C a multiple of 32.
// Parallel  one thread per four scalars of x: x covers C/4, y covers N. No shared memory.
// Numerics  f32; b is converted to f32 as it is loaded.
//! piece b_q4_1
//! piece embed_seat
