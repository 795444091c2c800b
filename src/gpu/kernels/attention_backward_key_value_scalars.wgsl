// attention_backward_key_value_scalars: attention_backward_key_value for heads whose size 8 doesn't divide
// Shapes    as in attention_backward_key_value; D even, at most 128.
// Parallel  as in attention_backward_key_value; it loads and adds scalar by scalar.
// Numerics  as in attention_backward_key_value.
//! piece head_scalars
//! piece path_backward_key_value
