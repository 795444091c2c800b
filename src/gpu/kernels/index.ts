import { ceilDiv, folded, kernel, type Dims } from '../kernel.ts';
import adamwWgsl from './adamw.wgsl';
import attentionBackwardKeyValueWgsl from './attention_backward_key_value.wgsl';
import attentionBackwardKeyValueBroadcastWgsl from './attention_backward_key_value_broadcast.wgsl';
import attentionBackwardQueryWgsl from './attention_backward_query.wgsl';
import attentionBackwardQueryBroadcastWgsl from './attention_backward_query_broadcast.wgsl';
import attentionForwardWgsl from './attention_forward.wgsl';
import attentionForwardBroadcastWgsl from './attention_forward_broadcast.wgsl';
import columnSumWgsl from './column_sum.wgsl';
import decodeAttentionWgsl from './decode_attention.wgsl';
import decodeEmbeddingWgsl from './decode_embedding.wgsl';
import decodeSampleWgsl from './decode_sample.wgsl';
import embeddingBackwardWgsl from './embedding_backward.wgsl';
import embeddingForwardWgsl from './embedding_forward.wgsl';
import gradientNormWgsl from './gradient_norm.wgsl';
import headForwardWgsl from './head_forward.wgsl';
import headForwardRowwiseWgsl from './head_forward_rowwise.wgsl';
import headScoresWgsl from './head_scores.wgsl';
import logitsBackwardWgsl from './logits_backward.wgsl';
import matmulBlocksWgsl from './matmul_blocks.wgsl';
import matmulBlocks4Wgsl from './matmul_blocks4.wgsl';
import matmulBroadcastWgsl from './matmul_broadcast.wgsl';
import matmulTilesWgsl from './matmul_tiles.wgsl';
import normProjectBroadcastWgsl from './norm_project_broadcast.wgsl';
import rmsnormBackwardWgsl from './rmsnorm_backward.wgsl';
import rmsnormBackwardRowwiseWgsl from './rmsnorm_backward_rowwise.wgsl';
import rmsnormForwardWgsl from './rmsnorm_forward.wgsl';
import rmsnormForwardRowwiseWgsl from './rmsnorm_forward_rowwise.wgsl';
import rmsnormWeightBackwardWgsl from './rmsnorm_weight_backward.wgsl';
import rotaryWgsl from './rotary.wgsl';
import stepFinishWgsl from './step_finish.wgsl';
import swigluBackwardWgsl from './swiglu_backward.wgsl';
import swigluForwardWgsl from './swiglu_forward.wgsl';
import valueBackwardWgsl from './value_backward.wgsl';
import valueForwardWgsl from './value_forward.wgsl';
import { each, get, line, perColumn, plane } from './costs.ts';

export * from './credit.ts';

export const embeddingForward = kernel('embedding_forward', embeddingForwardWgsl, {
  bind: ['record', 'rows', 'table', 'x'],
  grid: plane('C', 'N'),
  flops: () => 0,
  bytes: each(8, 'N C'),
});
export const embeddingBackward = kernel('embedding_backward', embeddingBackwardWgsl, {
  bind: ['record', 'rows', 'dx', 'dtable'],
  grid: ({ C = 1, V = 1 }) => [ceilDiv(C, 32), ceilDiv(V, 8)],
  flops: each(1, 'N C'),
  bytes: ({ N = 1, C = 1, V = 1 }) => 4 * (N * C + 2 * V * C),
});

const norm = { grid: line('N'), flops: each(4, 'N C'), bytes: each(12, 'N C') };
const normForward = { ...norm, bind: ['x', 'weight', 'xhat', 'y', 'inv'] };
const normBackward = {
  ...norm,
  bind: ['dy', 'xhat', 'weight', 'inv', 'dx', 'y'],
  flops: each(8, 'N C'),
  bytes: each(16, 'N C'),
};
const rowGroups = (dims: Dims): [number, number] => folded(get(dims, 'N'));
export const rmsnormForwardRowwise = kernel('rmsnorm_forward_rowwise', rmsnormForwardRowwiseWgsl, normForward);
export const rmsnormForward = kernel('rmsnorm_forward', rmsnormForwardWgsl, { ...normForward, grid: rowGroups });
export const rmsnormBackwardRowwise = kernel('rmsnorm_backward_rowwise', rmsnormBackwardRowwiseWgsl, normBackward);
export const rmsnormBackward = kernel('rmsnorm_backward', rmsnormBackwardWgsl, { ...normBackward, grid: rowGroups });
export const rmsnormWeightBackward = kernel('rmsnorm_weight_backward', rmsnormWeightBackwardWgsl, {
  bind: ['dy', 'xhat', 'dweight'],
  grid: perColumn('C', 'I'),
  flops: each(2, 'I N C'),
  bytes: each(8, 'I N C'),
});
export const columnSum = kernel('column_sum', columnSumWgsl, {
  bind: ['x', 'out'],
  grid: perColumn('C', 'I'),
  flops: each(1, 'I N C'),
  bytes: each(4, 'I N C'),
});

const product = {
  bind: ['a', 'b', 'c'],
  flops: each(2, 'I J K Z'),
  bytes: ({ I = 1, J = 1, K = 1, Z = 1 }: Dims) => 4 * Z * (I * K + K * J + I * J),
};
/** Dims besides the shape's own: Z, the number of matrices. */
export const matmulBlocks = kernel('matmul_blocks', matmulBlocksWgsl, {
  ...product,
  grid: ({ I = 1, J = 1, Z = 1 }) => [ceilDiv(J, 32), ceilDiv(I, 32), Z],
});
export const matmulBlocks4 = kernel('matmul_blocks4', matmulBlocks4Wgsl, {
  ...product,
  grid: ({ I = 1, J = 1, Z = 1 }) => [ceilDiv(J, 32), ceilDiv(I, 32), Z],
});
export const matmulTiles = kernel('matmul_tiles', matmulTilesWgsl, {
  ...product,
  grid: ({ I = 1, J = 1, Z = 1 }) => [ceilDiv(J, 32), ceilDiv(I, 32), Z],
});
/** Threads of a workgroup of the broadcast products, four columns each. */
const WIDTH = 16;
/** Dims besides the shape's own: Z. */
export const matmulBroadcast = kernel('matmul_broadcast', matmulBroadcastWgsl, {
  ...product,
  bind: ['a', 'b', 'gate_up', 'c'],
  grid: ({ I = 1, J = 1, Z = 1 }) => [ceilDiv(J, 4 * WIDTH), ceilDiv(I, 16), Z],
});
export const normProjectBroadcast = kernel('norm_project_broadcast', normProjectBroadcastWgsl, {
  bind: ['x', 'weights', 'positions', 'table', 'p', 'act', 'xhat', 'inv'],
  grid: ({ N = 1, M = 8 }) => [ceilDiv(M, 8 * WIDTH), ceilDiv(N, 16)],
  flops: each(2, 'N C M'),
  bytes: ({ N = 1, C = 1, M = 1 }) => 4 * (2 * N * C + C * M + N * M),
});

export const rotary = kernel('rotary', rotaryWgsl, {
  bind: ['qkv', 'positions', 'table', 'bias'],
  grid: ({ W = 2, N = 1 }) => plane('C', 'N')({ C: W / 2, N }),
  flops: each(3, 'N W'),
  bytes: each(8, 'N W'),
});

const causal =
  (factor: number) =>
  ({ N = 1, T = 1, H = 1, D = 1 }: Dims) =>
    (factor * N * (T + 1) * H * D) / 2;
/** Dims besides the shape's own, of the broadcast variants: `width`, the threads of a workgroup. */
const perHead =
  (heads: 'H' | 'G') =>
  ({ N = 1, T = 1, width = 8, ...dims }: Dims): [number, number, number] => [
    ceilDiv(T, width),
    get(dims, heads),
    N / T,
  ];
const attention = {
  bind: ['qkv', 'out', 'lse'],
  flops: causal(4),
  bytes: each(8, 'N W'),
};
const attentionQuery = {
  bind: ['qkv', 'out', 'dout', 'lse', 'table', 'delta', 'dqkv'],
  flops: causal(6),
  bytes: each(8, 'N W'),
};
const attentionKeyValue = {
  bind: ['qkv', 'dout', 'lse', 'delta', 'table', 'dqkv'],
  flops: causal(8),
  bytes: each(8, 'N W'),
};
export const attentionForward = kernel('attention_forward', attentionForwardWgsl, { ...attention, grid: line('N H') });
export const attentionForwardBroadcast = kernel('attention_forward_broadcast', attentionForwardBroadcastWgsl, {
  ...attention,
  grid: perHead('H'),
});
export const attentionBackwardQuery = kernel('attention_backward_query', attentionBackwardQueryWgsl, {
  ...attentionQuery,
  grid: line('N H'),
});
export const attentionBackwardQueryBroadcast = kernel(
  'attention_backward_query_broadcast',
  attentionBackwardQueryBroadcastWgsl,
  { ...attentionQuery, grid: perHead('H') },
);
export const attentionBackwardKeyValue = kernel('attention_backward_key_value', attentionBackwardKeyValueWgsl, {
  ...attentionKeyValue,
  grid: line('N G'),
});
export const attentionBackwardKeyValueBroadcast = kernel(
  'attention_backward_key_value_broadcast',
  attentionBackwardKeyValueBroadcastWgsl,
  { ...attentionKeyValue, grid: perHead('G') },
);

export const swigluForward = kernel('swiglu_forward', swigluForwardWgsl, {
  bind: ['gate_up', 'act'],
  grid: plane('F', 'N'),
  flops: each(4, 'N F'),
  bytes: each(12, 'N F'),
});
export const swigluBackward = kernel('swiglu_backward', swigluBackwardWgsl, {
  bind: ['gate_up', 'dact', 'dgate_up'],
  grid: plane('F', 'N'),
  flops: each(10, 'N F'),
  bytes: each(20, 'N F'),
});

const head = {
  bind: ['hidden', 'weight', 'record', 'grammar', 'rows', 'logits', 'scores', 'knobs'],
  flops: each(2, 'N C V'),
  bytes: ({ N = 1, C = 1, V = 1 }: Dims) => 4 * (N * C + V * C + N * V),
};
export const headForwardRowwise = kernel('head_forward_rowwise', headForwardRowwiseWgsl, { ...head, grid: line('N') });
export const headForward = kernel('head_forward', headForwardWgsl, { ...head, grid: rowGroups });
export const headScores = kernel('head_scores', headScoresWgsl, {
  bind: ['record', 'grammar', 'rows', 'logits', 'scores', 'knobs'],
  grid: line('N', 16),
  flops: each(6, 'N V'),
  bytes: each(12, 'N V'),
});
export const logitsBackward = kernel('logits_backward', logitsBackwardWgsl, {
  bind: ['record', 'rows', 'scores', 'coefficients', 'logits', 'knobs'],
  grid: plane('V', 'N'),
  flops: each(6, 'N V'),
  bytes: each(8, 'N V'),
});
export const valueForward = kernel('value_forward', valueForwardWgsl, {
  bind: ['hidden', 'weight', 'bias', 'record', 'rows', 'values'],
  grid: line('N'),
  flops: each(2, 'N C'),
  bytes: each(4, 'N C'),
});
export const valueBackward = kernel('value_backward', valueBackwardWgsl, {
  bind: ['hidden', 'weight', 'rows', 'dvalues', 'dhidden', 'grads'],
  grid: ({ N = 1, C = 1 }) => folded(ceilDiv(N * C + C + 1, 64)),
  flops: each(4, 'N C'),
  bytes: each(12, 'N C'),
});

export const gradientNorm = kernel('gradient_norm', gradientNormWgsl, {
  bind: ['grads', 'weights', 'partials'],
  grid: line('S'),
  flops: each(2, 'P'),
  bytes: each(8, 'P'),
});
export const stepFinish = kernel('step_finish', stepFinishWgsl, {
  bind: ['partials', 'stats', 'control', 'log', 'knobs'],
  grid: () => [1],
  flops: each(8, 'B'),
  bytes: ({ S = 1, B = 1 }) => 16 * S + 32 * B,
});
export const adamw = kernel('adamw', adamwWgsl, {
  bind: ['weights', 'grads', 'first', 'second', 'control', 'knobs'],
  grid: line('P'),
  flops: each(14, 'P'),
  bytes: each(28, 'P'),
});

export const decodeEmbedding = kernel('decode_embedding', decodeEmbeddingWgsl, {
  bind: ['state', 'record', 'table', 'x', 'positions'],
  grid: plane('C', 'B'),
  flops: () => 0,
  bytes: each(8, 'B C'),
});
export const decodeAttention = kernel('decode_attention', decodeAttentionWgsl, {
  bind: ['qkv', 'positions', 'cache', 'out'],
  grid: line('B H'),
  flops: each(2, 'B T H D'), // on average half the cache
  bytes: each(4, 'B T G D'),
});
export const decodeSample = kernel('decode_sample', decodeSampleWgsl, {
  bind: ['logits', 'grammar', 'state', 'record', 'drawn', 'sampled', 'settings'],
  grid: line('B', 16),
  flops: each(12, 'B V'),
  bytes: each(12, 'B V'),
});
