// attention_backward_key_value: the gradients of keys and values. With p_i = exp(q_i·k_j/√D − lse_i),
//     over the nodes i whose path contains j and the query heads that read this key:
//     dv_j = sum p_i·dout_i;  dk_j = sum p_i·(dout_i·v_j − delta_i)·q_i/√D, rotated back by the rotary angle of j
// Shapes    qkv, dqkv (N,W), W = (H + 2·G)·D; nodes as in attention_forward; dout (N, H·D); lse, delta (N,H); table
//           (P, D/2, 2) of cos and sin. 8 divides D, at most 128.
// Parallel  one thread per (j,g), barrier-free; it writes the key and value columns of dqkv. 2·D sums in
//           registers.
// Numerics  f32; sums run over i and then over query heads, always in that order. This adds up the gradients from all
//           rows that share the node.
//! piece head_quads
//! piece path_backward_key_value
