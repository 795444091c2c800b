import { ceilDiv, folded, kernel, type Dims } from '../kernel.ts';
import { each, get, plane, traffic } from './costs.ts';
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

/**
 * A product of few rows with packed b, which takes `bytes` bytes per scalar. Additional dims: I, the rows, and across,
 * the columns per workgroup.
 */
const fewRows = (bytes: number) => ({
  bind: ['a', 'b', 'c'],
  grid: ({ J = 1, across = 1 }: Dims) => [ceilDiv(J, across)] as const,
  flops: ({ I = 1, J = 1, K = 1 }: Dims) => 2 * I * J * K,
  bytes: ({ I = 1, J = 1, K = 1 }: Dims) => bytes * J * K + 4 * I * (K + J),
});
export const matmulRowsFloats = kernel('matmul_rows_floats', matmulRowsFloatsWgsl, fewRows(4));
export const matmulRowsPackedHalves = kernel('matmul_rows_packed_halves', matmulRowsPackedHalvesWgsl, fewRows(2));
export const matmulRowsBf16 = kernel('matmul_rows_bf16', matmulRowsBf16Wgsl, fewRows(2));
export const matmulRowsQ80 = kernel('matmul_rows_q8_0', matmulRowsQ80Wgsl, fewRows(34 / 32));
export const matmulRowsQ41 = kernel('matmul_rows_q4_1', matmulRowsQ41Wgsl, fewRows(20 / 32));
export const matmulRowsQ40 = kernel('matmul_rows_q4_0', matmulRowsQ40Wgsl, fewRows(18 / 32));

const embed = (bytes: number) => ({
  bind: ['seats', 'b', 'x'],
  grid: ({ N = 1, C = 1 }: Dims) => plane('quads', 'N')({ quads: C / 4, N }),
  flops: () => 0,
  bytes: each(4 + bytes, 'N C'),
});
export const embedFloats = kernel('embed_floats', embedFloatsWgsl, embed(4));
export const embedPackedHalves = kernel('embed_packed_halves', embedPackedHalvesWgsl, embed(2));
export const embedBf16 = kernel('embed_bf16', embedBf16Wgsl, embed(2));
export const embedQ80 = kernel('embed_q8_0', embedQ80Wgsl, embed(34 / 32));
export const embedQ41 = kernel('embed_q4_1', embedQ41Wgsl, embed(20 / 32));
export const embedQ40 = kernel('embed_q4_0', embedQ40Wgsl, embed(18 / 32));

export const pagedHeads = kernel('paged_heads', pagedHeadsWgsl, {
  bind: ['qkv', 'seats', 'places', 'table', 'bias', 'norms', 'queries', 'cache'],
  grid: ({ N = 1, H = 1, G = 1, D = 4 }) => plane('pairs', 'N')({ pairs: ((H + 2 * G) * D) / 4, N }),
  flops: ({ N = 1, H = 1, G = 1, D = 4 }) => 3 * N * (H + 2 * G) * D,
  bytes: ({ N = 1, H = 1, G = 1, D = 4 }) => N * D * (8 * H + 12 * G),
});
/** Additional dims: items, the (seat, head) pairs per workgroup, and keys, the average number of keys per pair. */
export const pagedAttention = kernel('paged_attention', pagedAttentionWgsl, {
  bind: ['queries', 'seats', 'places', 'cache', 'out'],
  grid: (dims) => folded(ceilDiv(get(dims, 'N') * get(dims, 'H'), get(dims, 'items'))),
  flops: each(4, 'N H D keys'),
  bytes: each(4, 'N G D keys'),
});

const perLogitsRow = {
  grid: ({ N = 1 }: Dims) => [N] as const,
  flops: each(6, 'N V'),
  bytes: traffic({ logits: '2 N V' }),
};
export const sampleTokens = kernel('sample_tokens', sampleTokensWgsl, {
  ...perLogitsRow,
  bind: ['logits', 'stops', 'seats', 'drawn', 'settings'],
});
export const likeliestTokens = kernel('likeliest_tokens', likeliestTokensWgsl, {
  ...perLogitsRow,
  bind: ['logits', 'found', 'settings'],
});
export const scoreTokens = kernel('score_tokens', scoreTokensWgsl, {
  ...perLogitsRow,
  bind: ['logits', 'targets', 'scored'],
});
