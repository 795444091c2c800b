import { ceilDiv, kernel, type Dims } from '../kernel.ts';
import attentionBackwardKeyValueWgsl from './attention_backward_key_value.wgsl';
import attentionBackwardKeyValueSharedRowsWgsl from './attention_backward_key_value_shared_rows.wgsl';
import attentionBackwardQueryWgsl from './attention_backward_query.wgsl';
import attentionBackwardQuerySharedRowsWgsl from './attention_backward_query_shared_rows.wgsl';
import attentionForwardWgsl from './attention_forward.wgsl';
import attentionForwardSharedRowsWgsl from './attention_forward_shared_rows.wgsl';
import { dimOf, lineGrid, timesDims, trafficBytes } from './costs.ts';

// Attention over trees of tokens. Additional dim: `keys`, the average number of keys per query. Decoding has its own kernels.
const headGrid =
  (heads: 'H' | 'G', nodes: number) =>
  ({ N = 1, ...dims }: Dims): [number, number] => [ceilDiv(N, nodes), dimOf(dims, heads)];
/** Queries, or keys, per workgroup of the shared-rows kernels. */
const NODES_PER_WORKGROUP = { queries: 16, keys: 8 };
const forwardDeclaration = {
  bind: ['qkv', 'nodes', 'out', 'lse'],
  flops: timesDims(4, 'N H D keys'),
  bytes: trafficBytes({ qkv: 'N W', out: 'N H D', lse: 'N H' }),
};
const queryDeclaration = {
  bind: ['qkv', 'nodes', 'out', 'dout', 'lse', 'table', 'delta', 'dqkv'],
  flops: timesDims(6, 'N H D keys'),
  bytes: trafficBytes({ qkv: 'N W', out: 'N H D', dout: 'N H D', dqkv: 'N H D' }),
};
const keyValueDeclaration = {
  bind: ['qkv', 'nodes', 'dout', 'lse', 'delta', 'table', 'dqkv'],
  flops: timesDims(8, 'N H D keys'),
  bytes: trafficBytes({ qkv: 'N W', dout: 'N H D', dqkv: '2 N G D' }),
};
export const attentionForward = kernel('attention_forward', attentionForwardWgsl, {
  ...forwardDeclaration,
  grid: lineGrid('N H'),
});
export const attentionBackwardQuery = kernel('attention_backward_query', attentionBackwardQueryWgsl, {
  ...queryDeclaration,
  grid: lineGrid('N H'),
});
export const attentionBackwardKeyValue = kernel('attention_backward_key_value', attentionBackwardKeyValueWgsl, {
  ...keyValueDeclaration,
  grid: lineGrid('N G'),
});

export const attentionForwardSharedRows = kernel('attention_forward_shared_rows', attentionForwardSharedRowsWgsl, {
  ...forwardDeclaration,
  grid: headGrid('H', NODES_PER_WORKGROUP.queries),
});
export const attentionBackwardQuerySharedRows = kernel(
  'attention_backward_query_shared_rows',
  attentionBackwardQuerySharedRowsWgsl,
  { ...queryDeclaration, grid: headGrid('H', NODES_PER_WORKGROUP.queries) },
);
export const attentionBackwardKeyValueSharedRows = kernel(
  'attention_backward_key_value_shared_rows',
  attentionBackwardKeyValueSharedRowsWgsl,
  { ...keyValueDeclaration, grid: headGrid('G', NODES_PER_WORKGROUP.keys) },
);
