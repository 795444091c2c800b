import { ceilDiv, kernel, type Dims } from '../kernel.ts';
import attentionBackwardKeyValueWgsl from './attention_backward_key_value.wgsl';
import attentionBackwardKeyValueSharedRowsWgsl from './attention_backward_key_value_shared_rows.wgsl';
import attentionBackwardQueryWgsl from './attention_backward_query.wgsl';
import attentionBackwardQuerySharedRowsWgsl from './attention_backward_query_shared_rows.wgsl';
import attentionForwardWgsl from './attention_forward.wgsl';
import attentionForwardSharedRowsWgsl from './attention_forward_shared_rows.wgsl';
import { dimOf, lineGrid, trafficBytes } from './costs.ts';

// Attention over whole rows. Decoding has its own kernels.
const causalFlops =
  (factor: number) =>
  ({ N = 1, T = 1, H = 1, D = 1 }: Dims) =>
    (factor * N * (T + 1) * H * D) / 2;
const headGrid =
  (heads: 'H' | 'G', rows: number) =>
  ({ N = 1, T = 1, ...dims }: Dims): [number, number, number] => [ceilDiv(T, rows), dimOf(dims, heads), N / T];
/** Queries, or keys, per workgroup of the shared-rows kernels. */
const ROWS_PER_WORKGROUP = { queries: 16, keys: 8 };
const forwardDeclaration = {
  bind: ['qkv', 'out', 'lse'],
  flops: causalFlops(4),
  bytes: trafficBytes({ qkv: 'N W', out: 'N H D', lse: 'N H' }),
};
const queryDeclaration = {
  bind: ['qkv', 'out', 'dout', 'lse', 'table', 'delta', 'dqkv'],
  flops: causalFlops(6),
  bytes: trafficBytes({ qkv: 'N W', out: 'N H D', dout: 'N H D', dqkv: 'N H D' }),
};
const keyValueDeclaration = {
  bind: ['qkv', 'dout', 'lse', 'delta', 'table', 'dqkv'],
  flops: causalFlops(8),
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
  grid: headGrid('H', ROWS_PER_WORKGROUP.queries),
});
export const attentionBackwardQuerySharedRows = kernel(
  'attention_backward_query_shared_rows',
  attentionBackwardQuerySharedRowsWgsl,
  { ...queryDeclaration, grid: headGrid('H', ROWS_PER_WORKGROUP.queries) },
);
export const attentionBackwardKeyValueSharedRows = kernel(
  'attention_backward_key_value_shared_rows',
  attentionBackwardKeyValueSharedRowsWgsl,
  { ...keyValueDeclaration, grid: headGrid('G', ROWS_PER_WORKGROUP.keys) },
);
