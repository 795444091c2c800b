import { ceilDiv, foldedGrid, kernel, type Dims } from '../kernel.ts';
import { timesDims, dimOf, planeGrid, trafficBytes } from './costs.ts';
import embedBf16Wgsl from './embed_bf16.wgsl';
import embedFloatsWgsl from './embed_floats.wgsl';
import embedPackedHalvesWgsl from './embed_packed_halves.wgsl';
import embedQ40Wgsl from './embed_q4_0.wgsl';
import embedQ41Wgsl from './embed_q4_1.wgsl';
import embedQ80Wgsl from './embed_q8_0.wgsl';
import likeliestTokensWgsl from './likeliest_tokens.wgsl';
import matmulRowsBf16Wgsl from './matmul_rows_bf16.wgsl';
import matmulRowsFloatsWgsl from './matmul_rows_floats.wgsl';
import matmulRowsPackedHalvesWgsl from './matmul_rows_packed_halves.wgsl';
import matmulRowsQ40Wgsl from './matmul_rows_q4_0.wgsl';
import matmulRowsQ41Wgsl from './matmul_rows_q4_1.wgsl';
import matmulRowsQ80Wgsl from './matmul_rows_q8_0.wgsl';
import pagedAttentionWgsl from './paged_attention.wgsl';
import pagedHeadsWgsl from './paged_heads.wgsl';
import sampleTokensWgsl from './sample_tokens.wgsl';
import scoreTokensWgsl from './score_tokens.wgsl';

/** Packed b takes `bytes` bytes per scalar. Additional dims: I, the rows, and columnsPerGroup, the columns per workgroup. */
const fewRowsDeclaration = (bytes: number) => ({
  bind: ['a', 'b', 'weight', 'c'],
  grid: ({ J = 1, columnsPerGroup = 1 }: Dims) => [ceilDiv(J, columnsPerGroup)] as const,
  flops: ({ I = 1, J = 1, K = 1 }: Dims) => 2 * I * J * K,
  bytes: ({ I = 1, J = 1, K = 1 }: Dims) => bytes * J * K + 4 * I * (K + J),
});
export const matmulRowsFloats = kernel('matmul_rows_floats', matmulRowsFloatsWgsl, fewRowsDeclaration(4));
export const matmulRowsPackedHalves = kernel(
  'matmul_rows_packed_halves',
  matmulRowsPackedHalvesWgsl,
  fewRowsDeclaration(2),
);
export const matmulRowsBf16 = kernel('matmul_rows_bf16', matmulRowsBf16Wgsl, fewRowsDeclaration(2));
export const matmulRowsQ80 = kernel('matmul_rows_q8_0', matmulRowsQ80Wgsl, fewRowsDeclaration(34 / 32));
export const matmulRowsQ41 = kernel('matmul_rows_q4_1', matmulRowsQ41Wgsl, fewRowsDeclaration(20 / 32));
export const matmulRowsQ40 = kernel('matmul_rows_q4_0', matmulRowsQ40Wgsl, fewRowsDeclaration(18 / 32));

const embedDeclaration = (bytes: number) => ({
  bind: ['seats', 'b', 'x'],
  grid: ({ N = 1, C = 1 }: Dims) => planeGrid('quads', 'N')({ quads: C / 4, N }),
  flops: () => 0,
  bytes: timesDims(4 + bytes, 'N C'),
});
export const embedFloats = kernel('embed_floats', embedFloatsWgsl, embedDeclaration(4));
export const embedPackedHalves = kernel('embed_packed_halves', embedPackedHalvesWgsl, embedDeclaration(2));
export const embedBf16 = kernel('embed_bf16', embedBf16Wgsl, embedDeclaration(2));
export const embedQ80 = kernel('embed_q8_0', embedQ80Wgsl, embedDeclaration(34 / 32));
export const embedQ41 = kernel('embed_q4_1', embedQ41Wgsl, embedDeclaration(20 / 32));
export const embedQ40 = kernel('embed_q4_0', embedQ40Wgsl, embedDeclaration(18 / 32));

export const pagedHeads = kernel('paged_heads', pagedHeadsWgsl, {
  bind: ['qkv', 'seats', 'places', 'table', 'bias', 'norms', 'queries', 'cache'],
  grid: ({ N = 1, H = 1, G = 1, D = 4 }) => planeGrid('pairs', 'N')({ pairs: ((H + 2 * G) * D) / 4, N }),
  flops: ({ N = 1, H = 1, G = 1, D = 4 }) => 3 * N * (H + 2 * G) * D,
  bytes: ({ N = 1, H = 1, G = 1, D = 4 }) => N * D * (8 * H + 12 * G),
});
/** Additional dims: items, the (seat, head) pairs per workgroup, and keys, the average number of keys per pair. */
export const pagedAttention = kernel('paged_attention', pagedAttentionWgsl, {
  bind: ['queries', 'seats', 'places', 'cache', 'out'],
  grid: (dims) => foldedGrid(ceilDiv(dimOf(dims, 'N') * dimOf(dims, 'H'), dimOf(dims, 'items'))),
  flops: timesDims(4, 'N H D keys'),
  bytes: timesDims(4, 'N G D keys'),
});

const perLogitsRow = {
  grid: ({ N = 1 }: Dims) => [N] as const,
  flops: timesDims(6, 'N V'),
  bytes: trafficBytes({ logits: '2 N V' }),
};
export const sampleTokens = kernel('sample_tokens', sampleTokensWgsl, {
  ...perLogitsRow,
  bind: ['logits', 'legal', 'stays', 'draws', 'seats', 'drawn', 'settings'],
});
export const likeliestTokens = kernel('likeliest_tokens', likeliestTokensWgsl, {
  ...perLogitsRow,
  bind: ['logits', 'found', 'settings'],
});
export const scoreTokens = kernel('score_tokens', scoreTokensWgsl, {
  ...perLogitsRow,
  bind: ['logits', 'targets', 'scored'],
});
