import { ceilDiv, foldedGrid, kernel, type Dims } from '../kernel.ts';
import adapterProductWgsl from './adapter_product.wgsl';
import { timesDims, dimOf, planeGrid, trafficBytes } from './costs.ts';
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

// Kernels of adapters: merging them into packed weights, and learning them from rows that form a tree of tokens.
const mergeDeclaration = (bytes: number) => ({
  bind: ['adapters', 'b', 'merged'],
  grid: ({ R = 1, C = 1 }: Dims) => planeGrid('quads', 'R')({ quads: C / 4, R }),
  flops: timesDims(2, 'R C rank'),
  bytes: timesDims(4 + bytes, 'R C'),
});
export const mergeAdapterFloats = kernel('merge_adapter_floats', mergeAdapterFloatsWgsl, mergeDeclaration(4));
export const mergeAdapterPackedHalves = kernel(
  'merge_adapter_packed_halves',
  mergeAdapterPackedHalvesWgsl,
  mergeDeclaration(2),
);
export const mergeAdapterBf16 = kernel('merge_adapter_bf16', mergeAdapterBf16Wgsl, mergeDeclaration(2));
export const mergeAdapterQ80 = kernel('merge_adapter_q8_0', mergeAdapterQ80Wgsl, mergeDeclaration(34 / 32));
export const mergeAdapterQ41 = kernel('merge_adapter_q4_1', mergeAdapterQ41Wgsl, mergeDeclaration(20 / 32));
export const mergeAdapterQ40 = kernel('merge_adapter_q4_0', mergeAdapterQ40Wgsl, mergeDeclaration(18 / 32));
export const adapterProduct = kernel('adapter_product', adapterProductWgsl, {
  bind: ['a', 'b', 'c'],
  grid: ({ I = 1, J = 1 }) => [ceilDiv(I, 64), ceilDiv(J, 4)],
  flops: timesDims(2, 'I J K'),
  bytes: ({ I = 1, J = 1, K = 1 }) => 4 * (I * K + K * J + I * J),
});

export const targetStates = kernel('target_states', targetStatesWgsl, {
  bind: ['targets', 'x', 'states'],
  grid: ({ N = 1, C = 1 }) => planeGrid('quads', 'N')({ quads: C / 4, N }),
  flops: () => 0,
  bytes: trafficBytes({ x: 'N C', states: 'N C' }),
});
export const targetStatesBackward = kernel('target_states_backward', targetStatesBackwardWgsl, {
  bind: ['targets', 'dstates', 'dx'],
  grid: ({ C = 1 }) => [ceilDiv(C / 4, 64)],
  flops: timesDims(1, 'N C'),
  bytes: trafficBytes({ dstates: 'N C', dx: '2 N C' }),
});
export const targetScores = kernel('target_scores', targetScoresWgsl, {
  bind: ['logits', 'targets', 'legal', 'scores', 'knobs'],
  grid: (dims) => foldedGrid(dimOf(dims, 'N')),
  flops: timesDims(6, 'N V'),
  bytes: timesDims(4, 'N V'),
});
export const targetGradients = kernel('target_gradients', targetGradientsWgsl, {
  bind: ['targets', 'legal', 'scores', 'coefficients', 'logits', 'knobs'],
  grid: planeGrid('V', 'N'),
  flops: timesDims(8, 'N V'),
  bytes: timesDims(8, 'N V'),
});
