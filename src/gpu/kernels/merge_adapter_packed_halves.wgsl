// merge_adapter_packed_halves: merged[at + o] = W[base_at + o] + alpha/rank·(B·A)[first + o] for R rows o,
//     with W stored in pairs of float16 numbers
// Shapes    b: W (·,C); merged (·,C); adapters: A (rank,C) from a_at on, B (·,rank) from b_at on; C a multiple of 4.
// Parallel  one thread per four scalars of merged: x covers C/4, y covers R. No shared memory.
// Numerics  f32, ranks in order; W is converted to f32 as it is loaded.
//! piece b_packed_halves
//! piece merge_adapter
