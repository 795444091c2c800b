import { ceilDiv, kernel, type Dims } from '../kernel.ts';
import attentionBackwardKeyValueWgsl from './attention_backward_key_value.wgsl';
import attentionBackwardKeyValueSharedRowsWgsl from './attention_backward_key_value_shared_rows.wgsl';
import attentionBackwardQueryWgsl from './attention_backward_query.wgsl';
import attentionBackwardQuerySharedRowsWgsl from './attention_backward_query_shared_rows.wgsl';
import attentionForwardWgsl from './attention_forward.wgsl';
import attentionForwardSharedRowsWgsl from './attention_forward_shared_rows.wgsl';
import { get, line, traffic } from './costs.ts';

// Attention over whole rows. Decoding has its own kernels.
const causal =
  (factor: number) =>
  ({ N = 1, T = 1, H = 1, D = 1 }: Dims) =>
    (factor * N * (T + 1) * H * D) / 2;
const perHead =
  (heads: 'H' | 'G', rows: number) =>
  ({ N = 1, T = 1, ...dims }: Dims): [number, number, number] => [ceilDiv(T, rows), get(dims, heads), N / T];
/** Queries, or keys, per workgroup of the shared-rows kernels. */
const SHARED_ROWS = { queries: 16, keys: 8 };
const attention = {
  bind: ['qkv', 'out', 'lse'],
  flops: causal(4),
  bytes: traffic({ qkv: 'N W', out: 'N H D', lse: 'N H' }),
};
const attentionQuery = {
  bind: ['qkv', 'out', 'dout', 'lse', 'table', 'delta', 'dqkv'],
  flops: causal(6),
  bytes: traffic({ qkv: 'N W', out: 'N H D', dout: 'N H D', dqkv: 'N H D' }),
};
const attentionKeyValue = {
  bind: ['qkv', 'dout', 'lse', 'delta', 'table', 'dqkv'],
  flops: causal(8),
  bytes: traffic({ qkv: 'N W', dout: 'N H D', dqkv: '2 N G D' }),
};
export const attentionForward = kernel('attention_forward', attentionForwardWgsl, { ...attention, grid: line('N H') });
export const attentionBackwardQuery = kernel('attention_backward_query', attentionBackwardQueryWgsl, {
  ...attentionQuery,
  grid: line('N H'),
});
export const attentionBackwardKeyValue = kernel('attention_backward_key_value', attentionBackwardKeyValueWgsl, {
  ...attentionKeyValue,
  grid: line('N G'),
});

export const attentionForwardSharedRows = kernel('attention_forward_shared_rows', attentionForwardSharedRowsWgsl, {
  ...attention,
  grid: perHead('H', SHARED_ROWS.queries),
});
export const attentionBackwardQuerySharedRows = kernel(
  'attention_backward_query_shared_rows',
  attentionBackwardQuerySharedRowsWgsl,
  { ...attentionQuery, grid: perHead('H', SHARED_ROWS.queries) },
);
export const attentionBackwardKeyValueSharedRows = kernel(
  'attention_backward_key_value_shared_rows',
  attentionBackwardKeyValueSharedRowsWgsl,
  { ...attentionKeyValue, grid: perHead('G', SHARED_ROWS.keys) },
);
