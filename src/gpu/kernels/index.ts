import { ceilDiv, foldedGrid, kernel, type Dims } from '../kernel.ts';
import columnSumWgsl from './column_sum.wgsl';
import decodeAttentionWgsl from './decode_attention.wgsl';
import decodeAttention4Wgsl from './decode_attention4.wgsl';
import decodeEmbeddingWgsl from './decode_embedding.wgsl';
import decodeSampleWgsl from './decode_sample.wgsl';
import decodeTurnWgsl from './decode_turn.wgsl';
import embeddingBackwardWgsl from './embedding_backward.wgsl';
import embeddingForwardWgsl from './embedding_forward.wgsl';
import headNormsBackwardWgsl from './head_norms_backward.wgsl';
import matmulBlocksWgsl from './matmul_blocks.wgsl';
import matmulBroadcastWgsl from './matmul_broadcast.wgsl';
import matmulTilesWgsl from './matmul_tiles.wgsl';
import matmulTilesBf16Wgsl from './matmul_tiles_bf16.wgsl';
import matmulTilesPackedHalvesWgsl from './matmul_tiles_packed_halves.wgsl';
import matmulTilesQ40Wgsl from './matmul_tiles_q4_0.wgsl';
import matmulTilesQ41Wgsl from './matmul_tiles_q4_1.wgsl';
import matmulTilesQ80Wgsl from './matmul_tiles_q8_0.wgsl';
import normProjectBlocksWgsl from './norm_project_blocks.wgsl';
import normProjectBroadcastWgsl from './norm_project_broadcast.wgsl';
import normProjectTilesWgsl from './norm_project_tiles.wgsl';
import rmsnormBackwardWgsl from './rmsnorm_backward.wgsl';
import rmsnormBackwardRowwiseWgsl from './rmsnorm_backward_rowwise.wgsl';
import rmsnormForwardWgsl from './rmsnorm_forward.wgsl';
import rmsnormForwardRowwiseWgsl from './rmsnorm_forward_rowwise.wgsl';
import rmsnormWeightBackwardWgsl from './rmsnorm_weight_backward.wgsl';
import rotaryWgsl from './rotary.wgsl';
import tokenPlacesWgsl from './token_places.wgsl';
import swigluBackwardWgsl from './swiglu_backward.wgsl';
import swigluForwardWgsl from './swiglu_forward.wgsl';
import { timesDims, dimOf, lineGrid, columnGrid, planeGrid, trafficBytes } from './costs.ts';

export * from './adapterKernels.ts';
export * from './attentionKernels.ts';
export * from './creditKernels.ts';
export * from './objectiveKernels.ts';
export * from './optimizerKernels.ts';
export * from './textKernels.ts';

export const embeddingForward = kernel('embedding_forward', embeddingForwardWgsl, {
  bind: ['nodes', 'table', 'x'],
  grid: ({ N = 1, C = 1 }) => planeGrid('shared', 'N')({ shared: 16 * ceilDiv(C, 128), N }), // threads per row
  flops: () => 0,
  bytes: trafficBytes({ table: 'N C', x: 'N C' }),
});
export const tokenPlaces = kernel('token_places', tokenPlacesWgsl, {
  bind: ['nodes', 'places'],
  grid: ({ N = 1, V = 1, span = 1 }) => foldedGrid(ceilDiv(ceilDiv(N, span) * (V + 1), 64)),
  flops: () => 0,
  bytes: timesDims(8, 'N'),
});
export const embeddingBackward = kernel('embedding_backward', embeddingBackwardWgsl, {
  bind: ['places', 'dx', 'dtable'],
  grid: ({ C = 1, V = 1, parts = 1 }) => [ceilDiv(C, 16), ceilDiv(V, 4), parts],
  flops: timesDims(1, 'N C'),
  bytes: ({ N = 1, C = 1, V = 1 }) => 4 * (N * C + 2 * V * C),
});

const norm = {
  grid: lineGrid('N'),
  flops: timesDims(4, 'N C'),
  bytes: trafficBytes({ x: 'N C', xhat: 'N C', y: 'N C' }),
};
const normForward = { ...norm, bind: ['x', 'weight', 'xhat', 'y', 'inv'] };
const normBackward = {
  ...norm,
  bind: ['dy', 'xhat', 'weight', 'inv', 'dx', 'y'],
  flops: timesDims(8, 'N C'),
  bytes: trafficBytes({ dy: 'N C', xhat: 'N C', dx: '2 N C' }),
};
const rowGroups = (dims: Dims): [number, number] => foldedGrid(dimOf(dims, 'N'));
export const rmsnormForwardRowwise = kernel('rmsnorm_forward_rowwise', rmsnormForwardRowwiseWgsl, normForward);
export const rmsnormForward = kernel('rmsnorm_forward', rmsnormForwardWgsl, { ...normForward, grid: rowGroups });
export const rmsnormBackwardRowwise = kernel('rmsnorm_backward_rowwise', rmsnormBackwardRowwiseWgsl, normBackward);
export const rmsnormBackward = kernel('rmsnorm_backward', rmsnormBackwardWgsl, { ...normBackward, grid: rowGroups });
export const rmsnormWeightBackward = kernel('rmsnorm_weight_backward', rmsnormWeightBackwardWgsl, {
  bind: ['dy', 'xhat', 'dweight'],
  grid: columnGrid('C', 'I'),
  flops: timesDims(2, 'I N C'),
  bytes: trafficBytes({ dy: 'I N C', xhat: 'I N C' }),
});
export const columnSum = kernel('column_sum', columnSumWgsl, {
  bind: ['x', 'out'],
  grid: columnGrid('C', 'I'),
  flops: timesDims(1, 'I N C'),
  bytes: timesDims(4, 'I N C'),
});

const productDeclaration = {
  bind: ['a', 'b', 'gate_up', 'c'],
  flops: ({ I = 1, J = 1, K = 1, Z = 1, parts = 1 }: Dims) => (2 * I * J * K * Z) / parts,
  bytes: ({ parts = 1, Z = 1, ...dims }: Dims, size: (binding: string) => number) =>
    trafficBytes({ a: 'I K Z', b: 'K J Z', c: 'parts I J Z' })({ ...dims, parts, Z: Z / parts }, size),
};
/** Additional dim: Z, the number of matrices times the number of parts of each sum. */
export const matmulBlocks = kernel('matmul_blocks', matmulBlocksWgsl, {
  ...productDeclaration,
  grid: ({ I = 1, J = 1, Z = 1, across = 8 }) => [ceilDiv(J, 8 * across), ceilDiv(I * across, 8 * 32), Z],
});
/** Additional dims: Z, as in matmulBlocks, and the rows and columns of a workgroup's tile. */
const tilesDeclaration = {
  ...productDeclaration,
  grid: ({ I = 1, J = 1, Z = 1, tileRows = 64, tileColumns = 64 }: Dims): [number, number, number] => [
    ceilDiv(J, tileColumns),
    ceilDiv(I, tileRows),
    Z,
  ],
};
export const matmulTiles = kernel('matmul_tiles', matmulTilesWgsl, tilesDeclaration);
/** The same product with packed b, which takes `bytes` bytes per scalar. */
const packedTilesDeclaration = (bytes: number) => ({
  ...tilesDeclaration,
  bytes: (dims: Dims, size: (binding: string) => number) =>
    productDeclaration.bytes(dims, (binding) => (binding === 'b' ? bytes : size(binding))),
});
export const matmulTilesPackedHalves = kernel(
  'matmul_tiles_packed_halves',
  matmulTilesPackedHalvesWgsl,
  packedTilesDeclaration(2),
);
export const matmulTilesBf16 = kernel('matmul_tiles_bf16', matmulTilesBf16Wgsl, packedTilesDeclaration(2));
export const matmulTilesQ80 = kernel('matmul_tiles_q8_0', matmulTilesQ80Wgsl, packedTilesDeclaration(34 / 32));
export const matmulTilesQ41 = kernel('matmul_tiles_q4_1', matmulTilesQ41Wgsl, packedTilesDeclaration(20 / 32));
export const matmulTilesQ40 = kernel('matmul_tiles_q4_0', matmulTilesQ40Wgsl, packedTilesDeclaration(18 / 32));
/** Threads per workgroup of the broadcast kernels, as their constant WIDTH says. Each thread owns four columns. */
const BROADCAST_WIDTH = 16;
/** Additional dim: Z, as in matmulBlocks. */
export const matmulBroadcast = kernel('matmul_broadcast', matmulBroadcastWgsl, {
  ...productDeclaration,
  grid: ({ I = 1, J = 1, Z = 1 }) => [ceilDiv(J, 4 * BROADCAST_WIDTH), ceilDiv(I, 16), Z],
});
const normProject = {
  bind: ['x', 'weights', 'positions', 'table', 'p', 'act', 'xhat', 'inv'],
  flops: timesDims(2, 'N C M'),
  bytes: trafficBytes({ x: 'N C', xhat: 'N C', weights: 'C M', p: 'N M' }),
};
export const normProjectBlocks = kernel('norm_project_blocks', normProjectBlocksWgsl, {
  ...normProject,
  grid: ({ N = 1, M = 8 }) => [ceilDiv(M, 64), ceilDiv(N, 64)],
});
/** Additional dim: the rows of a workgroup's tile. */
export const normProjectTiles = kernel('norm_project_tiles', normProjectTilesWgsl, {
  ...normProject,
  grid: ({ N = 1, M = 8, tileRows = 64 }) => [ceilDiv(M, 64), ceilDiv(N, tileRows)],
});
export const normProjectBroadcast = kernel('norm_project_broadcast', normProjectBroadcastWgsl, {
  ...normProject,
  grid: ({ N = 1, M = 8 }) => [ceilDiv(M, 4 * BROADCAST_WIDTH), ceilDiv(N, 16)],
});

export const rotary = kernel('rotary', rotaryWgsl, {
  bind: ['qkv', 'positions', 'table', 'bias', 'norms', 'unnormed'],
  grid: ({ N = 1, H = 1, G = 1 }) => planeGrid('heads', 'N')({ heads: H + 2 * G, N }),
  flops: ({ N = 1, H = 1, G = 1, D = 2 }) => 3 * N * (H + 2 * G) * D,
  bytes: ({ N = 1, H = 1, G = 1, D = 2 }, size) => 2 * size('qkv') * N * (H + 2 * G) * D,
});
export const headNormsBackward = kernel('head_norms_backward', headNormsBackwardWgsl, {
  bind: ['norms', 'unnormed', 'dqkv'],
  grid: ({ N = 1, H = 1, G = 1 }) => planeGrid('heads', 'N')({ heads: H + G, N }),
  flops: ({ N = 1, H = 1, G = 1, D = 2 }) => 10 * N * (H + G) * D,
  bytes: ({ N = 1, H = 1, G = 1, D = 2 }) => 16 * N * (H + G) * D,
});

export const swigluForward = kernel('swiglu_forward', swigluForwardWgsl, {
  bind: ['gate_up', 'act'],
  grid: planeGrid('F', 'N'),
  flops: timesDims(4, 'N F'),
  bytes: trafficBytes({ gate_up: '2 N F', act: 'N F' }),
});
export const swigluBackward = kernel('swiglu_backward', swigluBackwardWgsl, {
  bind: ['gate_up', 'dact', 'dgate_up'],
  grid: planeGrid('F', 'N'),
  flops: timesDims(10, 'N F'),
  bytes: trafficBytes({ gate_up: '2 N F', dact: 'N F', dgate_up: '2 N F' }),
});

export const decodeEmbedding = kernel('decode_embedding', decodeEmbeddingWgsl, {
  bind: ['state', 'drawn', 'table', 'record', 'x', 'positions'],
  grid: planeGrid('C', 'N'),
  flops: () => 0,
  bytes: trafficBytes({ table: 'N C', x: 'N C' }),
});
const decodeHeads = {
  bind: ['qkv', 'positions', 'cache', 'out'],
  grid: lineGrid('N H'),
  flops: timesDims(2, 'N T H D'), // on average half the cache
  bytes: trafficBytes({ cache: 'N T G D' }),
};
export const decodeAttention = kernel('decode_attention', decodeAttentionWgsl, decodeHeads);
export const decodeAttention4 = kernel('decode_attention4', decodeAttention4Wgsl, decodeHeads);
export const decodeSample = kernel('decode_sample', decodeSampleWgsl, {
  bind: ['logits', 'grammar', 'state', 'record', 'drawn', 'settings'],
  grid: lineGrid('N', 16),
  flops: timesDims(12, 'N V'),
  bytes: timesDims(12, 'N V'),
});
/** Additional dim: P, the number of parameters that a token is multiplied with. Counts `span` tokens a row, half the cache for each. */
export const decodeTurn = kernel('decode_turn', decodeTurnWgsl, {
  bind: ['weights', 'table', 'grammar', 'cache', 'state', 'record', 'drawn', 'settings'],
  grid: ({ N = 1 }) => foldedGrid(N),
  flops: ({ P = 1, Q = 1, T = 1, L = 1, N = 1, span = 1 }) => N * span * 2 * (P + L * Q * T),
  bytes: ({ P = 1, E = 1, T = 1, L = 1, N = 1, span = 1 }, size) =>
    N * span * (P * size('weights') + L * E * T * size('cache')),
  runsOut: true,
});
