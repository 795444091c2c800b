// attention_backward_query: the gradient of queries. With p_j = exp(q·k_j/√D − lse) and delta = dout·out:
//     over the nodes j on the path of n: dq = sum_j p_j·(dout·v_j − delta)·k_j/√D, rotated back by the angle of n
// Shapes    qkv, dqkv (N,W), W = (H + 2·G)·D; nodes as in attention_forward; out, dout (N, H·D); lse, delta (N,H);
//           table (P, D/2, 2) of cos and sin. 8 divides D, at most 128.
// Parallel  one thread per (n,h), barrier-free; it writes delta and the query columns of dqkv. D sums in
//           registers.
// Numerics  f32; probabilities are recomputed from lse, so exp never overflows.
//! piece head_quads
//! piece path_backward_query
