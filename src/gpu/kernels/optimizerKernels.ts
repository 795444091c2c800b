import { kernel } from '../kernel.ts';
import adamCorrectionsWgsl from './adam_corrections.wgsl';
import adamwWgsl from './adamw.wgsl';
import gradientNormWgsl from './gradient_norm.wgsl';
import roundWeightsWgsl from './round_weights.wgsl';
import stepStatsWgsl from './step_stats.wgsl';
import sumSlabsWgsl from './sum_slabs.wgsl';
import { timesDims, lineGrid, trafficBytes } from './costs.ts';
import { STEP_STATS } from './stepStats.ts';

// Kernels that close an optimizer step.
export const sumSlabs = kernel('sum_slabs', sumSlabsWgsl, {
  bind: ['grads'],
  grid: lineGrid('P'),
  flops: timesDims(1, 'slabs P'),
  bytes: timesDims(4, 'slabs P'),
});
export const gradientNorm = kernel('gradient_norm', gradientNormWgsl, {
  bind: ['grads', 'weights', 'sums'],
  grid: ({ groups = 1 }) => [groups],
  flops: timesDims(2, 'P'),
  bytes: timesDims(8, 'P'),
});
export const stepStats = kernel('step_stats', stepStatsWgsl, {
  bind: ['minibatch', 'coefficients', 'stats'],
  grid: () => [STEP_STATS.length],
  flops: timesDims(8, 'M T'),
  bytes: timesDims(32, 'M T'),
});
export const adamCorrections = kernel('adam_corrections', adamCorrectionsWgsl, {
  bind: ['ledger', 'knobs'],
  grid: () => [1],
  flops: () => 4,
  bytes: () => 20,
});
export const adamw = kernel('adamw', adamwWgsl, {
  bind: ['weights', 'grads', 'first', 'second', 'shadow', 'sums', 'ledger', 'knobs'],
  grid: ({ groups = 1, P = 1 }) => [P === 0 ? 1 : groups],
  flops: timesDims(14, 'P'),
  // shadow is the f16 copy of the weights; with f32 storage there is none, and another tensor is bound in its place
  bytes: (dims, size) => timesDims(28 + (size('shadow') === 2 ? 2 : 0), 'P')(dims),
});
export const roundWeights = kernel('round_weights', roundWeightsWgsl, {
  bind: ['weights', 'shadow'],
  grid: lineGrid('P'),
  flops: () => 0,
  bytes: trafficBytes({ weights: 'P', shadow: 'P' }),
});
