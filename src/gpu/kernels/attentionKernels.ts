import { ceilDiv, kernel, type Dims } from '../kernel.ts';
import attentionBackwardKeyValueWgsl from './attention_backward_key_value.wgsl';
import attentionBackwardKeyValueScalarsWgsl from './attention_backward_key_value_scalars.wgsl';
import attentionBackwardKeyValueSharedRowsWgsl from './attention_backward_key_value_shared_rows.wgsl';
import attentionBackwardQueryWgsl from './attention_backward_query.wgsl';
import attentionBackwardQueryScalarsWgsl from './attention_backward_query_scalars.wgsl';
import attentionBackwardQuerySharedRowsWgsl from './attention_backward_query_shared_rows.wgsl';
import attentionForwardWgsl from './attention_forward.wgsl';
import attentionForwardScalarsWgsl from './attention_forward_scalars.wgsl';
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
const forward = { ...forwardDeclaration, grid: lineGrid('N H') };
const backwardQuery = { ...queryDeclaration, grid: lineGrid('N H') };
const backwardKeyValue = { ...keyValueDeclaration, grid: lineGrid('N G') };
export const attentionForward = kernel('attention_forward', attentionForwardWgsl, forward);
export const attentionBackwardQuery = kernel('attention_backward_query', attentionBackwardQueryWgsl, backwardQuery);
export const attentionBackwardKeyValue = kernel('attention_backward_key_value', attentionBackwardKeyValueWgsl, backwardKeyValue); // prettier-ignore

export const attentionForwardScalars = kernel('attention_forward_scalars', attentionForwardScalarsWgsl, forward);
export const attentionBackwardQueryScalars = kernel('attention_backward_query_scalars', attentionBackwardQueryScalarsWgsl, backwardQuery); // prettier-ignore
export const attentionBackwardKeyValueScalars = kernel('attention_backward_key_value_scalars', attentionBackwardKeyValueScalarsWgsl, backwardKeyValue); // prettier-ignore

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
