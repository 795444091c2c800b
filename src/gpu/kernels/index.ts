import { ceilDiv, folded, kernel, type Dims } from '../kernel.ts';
import adamwWgsl from './adamw.wgsl';
import columnSumWgsl from './column_sum.wgsl';
import decodeAppendWgsl from './decode_append.wgsl';
import decodeAttentionWgsl from './decode_attention.wgsl';
import decodeAttention4Wgsl from './decode_attention4.wgsl';
import decodeEmbeddingWgsl from './decode_embedding.wgsl';
import decodePrefillWgsl from './decode_prefill.wgsl';
import decodeSampleWgsl from './decode_sample.wgsl';
import embeddingBackwardWgsl from './embedding_backward.wgsl';
import embeddingForwardWgsl from './embedding_forward.wgsl';
import gradientNormWgsl from './gradient_norm.wgsl';
import languageHeadWgsl from './language_head.wgsl';
import matmulBlocksWgsl from './matmul_blocks.wgsl';
import matmulBroadcastWgsl from './matmul_broadcast.wgsl';
import matmulTilesWgsl from './matmul_tiles.wgsl';
import normProjectBlocksWgsl from './norm_project_blocks.wgsl';
import normProjectBroadcastWgsl from './norm_project_broadcast.wgsl';
import normProjectTilesWgsl from './norm_project_tiles.wgsl';
import rmsnormBackwardWgsl from './rmsnorm_backward.wgsl';
import rmsnormBackwardRowwiseWgsl from './rmsnorm_backward_rowwise.wgsl';
import rmsnormForwardWgsl from './rmsnorm_forward.wgsl';
import rmsnormForwardRowwiseWgsl from './rmsnorm_forward_rowwise.wgsl';
import rmsnormWeightBackwardWgsl from './rmsnorm_weight_backward.wgsl';
import rotaryWgsl from './rotary.wgsl';
import roundWeightsWgsl from './round_weights.wgsl';
import swigluBackwardWgsl from './swiglu_backward.wgsl';
import swigluForwardWgsl from './swiglu_forward.wgsl';
import valueBackwardWgsl from './value_backward.wgsl';
import valueHeadWgsl from './value_head.wgsl';
import { each, get, line, perColumn, plane, traffic } from './costs.ts';

export * from './attention.ts';
export * from './credit.ts';

export const embeddingForward = kernel('embedding_forward', embeddingForwardWgsl, {
  bind: ['record', 'rows', 'table', 'x', 'places', 'minibatch', 'masks', 'weights', 'knobs'],
  grid: ({ N = 1, C = 1, V = 0, span = 1, M = 0 }) => {
    const threads = 5 * M + (V === 0 ? 0 : ceilDiv(N, span) * (V + 1));
    const shared = 16 * ceilDiv(C, 128); // threads of a row
    return plane('shared', 'N')({ shared, N: N + ceilDiv(threads, shared) });
  },
  flops: () => 0,
  bytes: ({ M = 0, T = 1, ...dims }, size) => traffic({ table: 'N C', x: 'N C' })(dims, size) + 32 * M * T,
});
export const embeddingBackward = kernel('embedding_backward', embeddingBackwardWgsl, {
  bind: ['places', 'dx', 'dtable'],
  grid: ({ C = 1, V = 1, parts = 1 }) => [ceilDiv(C, 16), ceilDiv(V, 4), parts],
  flops: each(1, 'N C'),
  bytes: ({ N = 1, C = 1, V = 1 }) => 4 * (N * C + 2 * V * C),
});

const norm = { grid: line('N'), flops: each(4, 'N C'), bytes: traffic({ x: 'N C', xhat: 'N C', y: 'N C' }) };
const normForward = { ...norm, bind: ['x', 'weight', 'xhat', 'y', 'inv'] };
const normBackward = {
  ...norm,
  bind: ['dy', 'xhat', 'weight', 'inv', 'dx', 'y'],
  flops: each(8, 'N C'),
  bytes: traffic({ dy: 'N C', xhat: 'N C', dx: '2 N C' }),
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
  bytes: traffic({ dy: 'I N C', xhat: 'I N C' }),
});
export const columnSum = kernel('column_sum', columnSumWgsl, {
  bind: ['x', 'out'],
  grid: perColumn('C', 'I'),
  flops: each(1, 'I N C'),
  bytes: each(4, 'I N C'),
});

const product = {
  bind: ['a', 'b', 'gate_up', 'c'],
  flops: ({ I = 1, J = 1, K = 1, Z = 1, parts = 1 }: Dims) => (2 * I * J * K * Z) / parts,
  bytes: ({ parts = 1, Z = 1, ...dims }: Dims, size: (binding: string) => number) =>
    traffic({ a: 'I K Z', b: 'K J Z', c: 'parts I J Z' })({ ...dims, parts, Z: Z / parts }, size),
};
/** Dims besides the shape's own: Z, the number of matrices times that of the parts of each sum. */
export const matmulBlocks = kernel('matmul_blocks', matmulBlocksWgsl, {
  ...product,
  grid: ({ I = 1, J = 1, Z = 1, across = 8 }) => [ceilDiv(J, 8 * across), ceilDiv(I * across, 8 * 32), Z],
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
  grid: ({ I = 1, J = 1, Z = 1 }) => [ceilDiv(J, 4 * WIDTH), ceilDiv(I, 16), Z],
});
const normProject = {
  bind: ['x', 'weights', 'positions', 'table', 'p', 'act', 'xhat', 'inv'],
  flops: each(2, 'N C M'),
  bytes: traffic({ x: 'N C', xhat: 'N C', weights: 'C M', p: 'N M' }),
};
export const normProjectBlocks = kernel('norm_project_blocks', normProjectBlocksWgsl, {
  ...normProject,
  grid: ({ N = 1, M = 8 }) => [ceilDiv(M, 64), ceilDiv(N, 64)],
});
export const normProjectTiles = kernel('norm_project_tiles', normProjectTilesWgsl, {
  ...normProject,
  grid: ({ N = 1, M = 8 }) => [ceilDiv(M, 64), ceilDiv(N, 32)],
});
export const normProjectBroadcast = kernel('norm_project_broadcast', normProjectBroadcastWgsl, {
  ...normProject,
  grid: ({ N = 1, M = 8 }) => [ceilDiv(M, 4 * WIDTH), ceilDiv(N, 16)],
});

export const rotary = kernel('rotary', rotaryWgsl, {
  bind: ['qkv', 'positions', 'table', 'bias'],
  grid: ({ W = 2, N = 1 }) => plane('C', 'N')({ C: W / 2, N }),
  flops: each(3, 'N W'),
  bytes: traffic({ qkv: '2 N W' }),
});

export const swigluForward = kernel('swiglu_forward', swigluForwardWgsl, {
  bind: ['gate_up', 'act'],
  grid: plane('F', 'N'),
  flops: each(4, 'N F'),
  bytes: traffic({ gate_up: '2 N F', act: 'N F' }),
});
export const swigluBackward = kernel('swiglu_backward', swigluBackwardWgsl, {
  bind: ['gate_up', 'dact', 'dgate_up'],
  grid: plane('F', 'N'),
  flops: each(10, 'N F'),
  bytes: traffic({ gate_up: '2 N F', dact: 'N F', dgate_up: '2 N F' }),
});

/** Dims besides the shape's own: LANES, the constant of that name. Of a learner it passes the logits twice. */
export const languageHead = kernel('language_head', languageHeadWgsl, {
  bind: ['record', 'grammar', 'rows', 'old_scores', 'ref_scores', 'targets', 'logits', 'out', 'knobs'],
  grid: ({ N = 1, LANES = 1 }) => folded(ceilDiv(N * LANES, 64)),
  flops: ({ N = 1, V = 1, learns = 0 }) => (learns === 1 ? 12 : 6) * N * V,
  bytes: ({ N = 1, V = 1, learns = 0 }) => 4 * (learns === 1 ? 2 : 1) * N * V,
});
export const valueHead = kernel('value_head', valueHeadWgsl, {
  bind: ['hidden', 'weight', 'bias', 'record', 'rows', 'old_values', 'targets', 'out', 'knobs'],
  grid: line('N'),
  flops: each(2, 'N C'),
  bytes: traffic({ hidden: 'N C' }),
});
export const valueBackward = kernel('value_backward', valueBackwardWgsl, {
  bind: ['hidden', 'weight', 'rows', 'coefficients', 'dhidden', 'grads'],
  grid: ({ N = 1, C = 1, parts = 1 }) => folded(ceilDiv(N * C + parts * (C + 1), 64)),
  flops: each(4, 'N C'),
  bytes: traffic({ hidden: 'N C', dhidden: '2 N C' }),
});

export const gradientNorm = kernel('gradient_norm', gradientNormWgsl, {
  bind: ['grads', 'weights', 'minibatch', 'coefficients', 'sums', 'ledger', 'knobs'],
  grid: ({ groups = 1 }) => [groups + 8],
  flops: ({ P = 1, M = 1, T = 1 }) => 2 * P + 8 * M * T,
  bytes: ({ P = 1, slabs = 1, M = 1, T = 1 }) => 4 * P * (slabs === 1 ? 2 : slabs + 2) + 32 * M * T,
});
export const adamw = kernel('adamw', adamwWgsl, {
  bind: ['weights', 'grads', 'first', 'second', 'shadow', 'sums', 'ledger', 'knobs'],
  grid: ({ groups = 1, P = 1 }) => [P === 0 ? 1 : groups],
  flops: each(14, 'P'),
  bytes: (dims, size) => each(28 + (size('shadow') === 2 ? 2 : 0), 'P')(dims), // in f32 the shadow is a stand-in
});

export const roundWeights = kernel('round_weights', roundWeightsWgsl, {
  bind: ['weights', 'shadow'],
  grid: line('P'),
  flops: () => 0,
  bytes: traffic({ weights: 'P', shadow: 'P' }),
});

export const decodeEmbedding = kernel('decode_embedding', decodeEmbeddingWgsl, {
  bind: ['state', 'record', 'table', 'x', 'positions'],
  grid: plane('C', 'N'),
  flops: () => 0,
  bytes: traffic({ table: 'N C', x: 'N C' }),
});
export const decodePrefill = kernel('decode_prefill', decodePrefillWgsl, {
  bind: ['seats', 'table', 'record', 'x'],
  grid: plane('C', 'N'),
  flops: () => 0,
  bytes: traffic({ table: 'N C', x: 'N C' }),
});
export const decodeAppend = kernel('decode_append', decodeAppendWgsl, {
  bind: ['qkv', 'seats', 'cache'],
  grid: plane('E', 'N'),
  flops: () => 0,
  bytes: traffic({ qkv: 'N E', cache: 'N E' }), // keys; as many values
});
const decodeHeads = {
  bind: ['qkv', 'positions', 'cache', 'out'],
  grid: line('N H'),
  flops: each(2, 'N T H D'), // on average half the cache
  bytes: traffic({ cache: 'N T G D' }),
};
export const decodeAttention = kernel('decode_attention', decodeAttentionWgsl, decodeHeads);
export const decodeAttention4 = kernel('decode_attention4', decodeAttention4Wgsl, decodeHeads);
export const decodeSample = kernel('decode_sample', decodeSampleWgsl, {
  bind: ['logits', 'grammar', 'state', 'record', 'drawn', 'sampled', 'settings'],
  grid: line('N', 16),
  flops: each(12, 'N V'),
  bytes: each(12, 'N V'),
});
