import { ceilDiv, folded, kernel, type Dims } from '../kernel.ts';
import adapterProductWgsl from './adapter_product.wgsl';
import { each, get, line, plane, traffic } from './costs.ts';
import mergeAdapterBf16Wgsl from './merge_adapter_bf16.wgsl';
import mergeAdapterFloatsWgsl from './merge_adapter_floats.wgsl';
import mergeAdapterPackedHalvesWgsl from './merge_adapter_packed_halves.wgsl';
import mergeAdapterQ40Wgsl from './merge_adapter_q4_0.wgsl';
import mergeAdapterQ41Wgsl from './merge_adapter_q4_1.wgsl';
import mergeAdapterQ80Wgsl from './merge_adapter_q8_0.wgsl';
import targetGradientsWgsl from './target_gradients.wgsl';
import targetScoresWgsl from './target_scores.wgsl';
import targetStatesWgsl from './target_states.wgsl';
import targetStatesBackwardWgsl from './target_states_backward.wgsl';
import treeAttentionWgsl from './tree_attention.wgsl';
import treeAttentionBackwardKeyValueWgsl from './tree_attention_backward_key_value.wgsl';
import treeAttentionBackwardQueryWgsl from './tree_attention_backward_query.wgsl';
import treeHeadsWgsl from './tree_heads.wgsl';
import treeHeadsBackwardWgsl from './tree_heads_backward.wgsl';

// Kernels of adapters: merging them into packed weights, and learning them from rows that form a tree of tokens.
const merge = (bytes: number) => ({
  bind: ['adapters', 'b', 'merged'],
  grid: ({ R = 1, C = 1 }: Dims) => plane('quads', 'R')({ quads: C / 4, R }),
  flops: each(2, 'R C rank'),
  bytes: each(4 + bytes, 'R C'),
});
export const mergeAdapterFloats = kernel('merge_adapter_floats', mergeAdapterFloatsWgsl, merge(4));
export const mergeAdapterPackedHalves = kernel('merge_adapter_packed_halves', mergeAdapterPackedHalvesWgsl, merge(2));
export const mergeAdapterBf16 = kernel('merge_adapter_bf16', mergeAdapterBf16Wgsl, merge(2));
export const mergeAdapterQ80 = kernel('merge_adapter_q8_0', mergeAdapterQ80Wgsl, merge(34 / 32));
export const mergeAdapterQ41 = kernel('merge_adapter_q4_1', mergeAdapterQ41Wgsl, merge(20 / 32));
export const mergeAdapterQ40 = kernel('merge_adapter_q4_0', mergeAdapterQ40Wgsl, merge(18 / 32));
export const adapterProduct = kernel('adapter_product', adapterProductWgsl, {
  bind: ['a', 'b', 'c'],
  grid: ({ I = 1, J = 1 }) => [ceilDiv(I, 64), ceilDiv(J, 4)],
  flops: each(2, 'I J K'),
  bytes: ({ I = 1, J = 1, K = 1 }) => 4 * (I * K + K * J + I * J),
});

const heads = {
  grid: ({ N = 1, H = 1, G = 1 }: Dims) => plane('heads', 'N')({ heads: H + 2 * G, N }),
  flops: ({ N = 1, H = 1, G = 1, D = 4 }: Dims) => 3 * N * (H + 2 * G) * D,
  bytes: ({ N = 1, H = 1, G = 1, D = 4 }: Dims) => 8 * N * (H + 2 * G) * D,
};
export const treeHeads = kernel('tree_heads', treeHeadsWgsl, {
  ...heads,
  bind: ['qkv', 'nodes', 'table', 'bias', 'norms', 'heads'],
});
export const treeHeadsBackward = kernel('tree_heads_backward', treeHeadsBackwardWgsl, {
  ...heads,
  bind: ['dheads', 'qkv', 'nodes', 'table', 'bias', 'norms', 'dqkv'],
});
/** Additional dims: D, and `keys`, the average number of keys per query. */
export const treeAttention = kernel('tree_attention', treeAttentionWgsl, {
  bind: ['heads', 'nodes', 'paths', 'out', 'lse'],
  grid: line('N H'),
  flops: each(4, 'N H D keys'),
  bytes: each(8, 'N G D keys'),
});
/** Additional dims: D, and `keys`, the average number of keys per query. */
export const treeAttentionBackwardQuery = kernel('tree_attention_backward_query', treeAttentionBackwardQueryWgsl, {
  bind: ['heads', 'nodes', 'paths', 'out', 'dout', 'lse', 'delta', 'dheads'],
  grid: line('N H'),
  flops: each(6, 'N H D keys'),
  bytes: each(8, 'N G D keys'),
});
/** Additional dims: D, and `keys`, the average number of keys per query. */
export const treeAttentionBackwardKeyValue = kernel(
  'tree_attention_backward_key_value',
  treeAttentionBackwardKeyValueWgsl,
  {
    bind: ['heads', 'nodes', 'dout', 'lse', 'delta', 'dheads'],
    grid: line('N G'),
    flops: each(8, 'N H D keys'),
    bytes: each(8, 'N H D keys'),
  },
);

export const targetStates = kernel('target_states', targetStatesWgsl, {
  bind: ['targets', 'x', 'states'],
  grid: ({ N = 1, C = 1 }) => plane('quads', 'N')({ quads: C / 4, N }),
  flops: () => 0,
  bytes: traffic({ x: 'N C', states: 'N C' }),
});
export const targetStatesBackward = kernel('target_states_backward', targetStatesBackwardWgsl, {
  bind: ['targets', 'dstates', 'dx'],
  grid: ({ C = 1 }) => [ceilDiv(C / 4, 64)],
  flops: each(1, 'N C'),
  bytes: traffic({ dstates: 'N C', dx: '2 N C' }),
});
export const targetScores = kernel('target_scores', targetScoresWgsl, {
  bind: ['logits', 'targets', 'legal', 'scores', 'knobs'],
  grid: (dims) => folded(get(dims, 'N')),
  flops: each(6, 'N V'),
  bytes: each(4, 'N V'),
});
export const targetGradients = kernel('target_gradients', targetGradientsWgsl, {
  bind: ['targets', 'legal', 'scores', 'coefficients', 'logits', 'knobs'],
  grid: plane('V', 'N'),
  flops: each(8, 'N V'),
  bytes: each(8, 'N V'),
});
