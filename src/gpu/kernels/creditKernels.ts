import { kernel } from '../kernel.ts';
import correctionsWgsl from './corrections.wgsl';
import creditMasksWgsl from './credit_masks.wgsl';
import gaeWgsl from './gae.wgsl';
import groupAdvantagesWgsl from './group_advantages.wgsl';
import stateAdvantagesWgsl from './state_advantages.wgsl';
import whitenApplyWgsl from './whiten_apply.wgsl';
import whitenDeviationWgsl from './whiten_deviation.wgsl';
import whitenSumsWgsl from './whiten_sums.wgsl';
import { timesDims, lineGrid } from './costs.ts';

// Kernels that compute the masks, and from rewards the advantages.
const perRow = (rows: string) => ({
  grid: lineGrid(rows, 16),
  flops: timesDims(20, `${rows} T`),
  bytes: timesDims(32, `${rows} T`),
});
export const creditMasks = kernel('credit_masks', creditMasksWgsl, {
  ...perRow('B'),
  bind: ['record', 'groups', 'rewards', 'old_scores', 'ref_scores', 'masks', 'shaped', 'sums', 'settings'],
});
export const gae = kernel('gae', gaeWgsl, {
  ...perRow('B'),
  bind: ['record', 'rewards', 'values', 'masks', 'credit', 'settings'],
});
export const groupAdvantages = kernel('group_advantages', groupAdvantagesWgsl, {
  ...perRow('B'),
  bind: ['groups', 'rewards', 'masks', 'sums', 'credit', 'settings'],
});
export const stateAdvantages = kernel('state_advantages', stateAdvantagesWgsl, {
  ...perRow('B'),
  grid: lineGrid('B T'),
  bind: ['groups', 'rewards', 'masks', 'credit', 'settings'],
});
export const whitenSums = kernel('whiten_sums', whitenSumsWgsl, {
  ...perRow('B'),
  bind: ['masks', 'credit', 'sums'],
});
export const whitenDeviation = kernel('whiten_deviation', whitenDeviationWgsl, {
  ...perRow('B'),
  bind: ['masks', 'credit', 'sums'],
});
export const whitenApply = kernel('whiten_apply', whitenApplyWgsl, {
  ...perRow('B'),
  bind: ['record', 'groups', 'masks', 'sums', 'credit', 'settings'],
});
export const corrections = kernel('corrections', correctionsWgsl, {
  ...perRow('B'),
  bind: ['record', 'old_scores', 'rewards', 'masks', 'corrections', 'settings'],
});
