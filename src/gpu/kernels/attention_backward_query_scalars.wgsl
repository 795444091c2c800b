// attention_backward_query_scalars: attention_backward_query for heads whose size 8 doesn't divide
// Shapes    as in attention_backward_query; D even, at most 128.
// Parallel  as in attention_backward_query; it loads and adds scalar by scalar.
// Numerics  as in attention_backward_query.
//! piece head_scalars
//! piece path_backward_query
