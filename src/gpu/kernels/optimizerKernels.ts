import { kernel } from '../kernel.ts';
import adamCorrectionsWgsl from './adam_corrections.wgsl';
import adamwWgsl from './adamw.wgsl';
import gradientNormWgsl from './gradient_norm.wgsl';
import roundWeightsWgsl from './round_weights.wgsl';
import stepStatsWgsl from './step_stats.wgsl';
import sumSlabsWgsl from './sum_slabs.wgsl';
import { each, line, traffic } from './costs.ts';
import { STEP_STATS } from './stepStats.ts';

// Kernels that close an optimizer step.
export const sumSlabs = kernel('sum_slabs', sumSlabsWgsl, {
  bind: ['grads'],
  grid: line('P'),
  flops: each(1, 'slabs P'),
  bytes: each(4, 'slabs P'),
});
export const gradientNorm = kernel('gradient_norm', gradientNormWgsl, {
  bind: ['grads', 'weights', 'sums'],
  grid: ({ groups = 1 }) => [groups],
  flops: each(2, 'P'),
  bytes: each(8, 'P'),
});
export const stepStats = kernel('step_stats', stepStatsWgsl, {
  bind: ['minibatch', 'coefficients', 'stats'],
  grid: () => [STEP_STATS.length],
  flops: each(8, 'M T'),
  bytes: each(32, 'M T'),
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
  flops: each(14, 'P'),
  // with f32 storage another tensor stands in for the shadow
  bytes: (dims, size) => each(28 + (size('shadow') === 2 ? 2 : 0), 'P')(dims),
});
export const roundWeights = kernel('round_weights', roundWeightsWgsl, {
  bind: ['weights', 'shadow'],
  grid: line('P'),
  flops: () => 0,
  bytes: traffic({ weights: 'P', shadow: 'P' }),
});
