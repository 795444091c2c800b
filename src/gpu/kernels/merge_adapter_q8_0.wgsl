// merge_adapter_q8_0: merged[at + o] = W[base_at + o] + alpha/rank·(B·A)[first + o] for R rows o,
//     with W stored in blocks of GGUF's Q8_0
// Shapes    b: W (·,C); merged (·,C); adapters: A (rank,C) from a_at on, B (·,rank) from b_at on; C a multiple of 32.
// Parallel  one thread per four scalars of merged: x covers C/4, y covers R. No shared memory.
// Numerics  f32, ranks in order; W is converted to f32 as it is loaded.
//! piece b_q8_0
//! piece merge_adapter
