// attention_forward_scalars: attention_forward for heads whose size 8 doesn't divide
// Shapes    as in attention_forward; D even, at most 128.
// Parallel  as in attention_forward; it loads and adds scalar by scalar.
// Numerics  as in attention_forward.
//! piece head_scalars
//! piece path_forward
