// attention_forward: attention over the path of each node of trees of tokens. A row that shares nothing is such a path:
//     out[n,h] = sum_j p_j·v_j over the nodes j on the path to n, n included, p = softmax_j(q_n·k_j / √D);
//     lse = log sum_j exp(q_n·k_j / √D)
// Shapes    qkv (N,W), W = (H + 2·G)·D, rotated; nodes (N) in depth-first order, as (token, position, root, end):
//           root is the first node of its tree, and node j and those under it are j … end − 1; out (N, H·D); lse (N,H).
//           Query head h reads key head h·G/H. 8 divides D, at most 128.
// Parallel  one thread per (n,h), barrier-free; it goes over the keys once with an online softmax, and skips the nodes
//           under one that is not on its path. D sums in registers.
// Numerics  f32; the running maximum is subtracted before exp. T×T is never stored, only lse for the backward pass.
//! piece head_quads
//! piece path_forward
