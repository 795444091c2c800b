import { ceilDiv, foldedGrid, kernel, type Dims } from '../kernel.ts';
import languageHeadWgsl from './language_head.wgsl';
import languageHeadBackwardWgsl from './language_head_backward.wgsl';
import lossWeightsWgsl from './loss_weights.wgsl';
import objectiveWgsl from './objective.wgsl';
import teacherRowsWgsl from './teacher_rows.wgsl';
import valueBackwardWgsl from './value_backward.wgsl';
import valueHeadWgsl from './value_head.wgsl';
import { dimOf, timesDims, lineGrid, trafficBytes } from './costs.ts';

// Kernels from logits and hidden states to scores and the objective, and back to gradients.
export const lossWeights = kernel('loss_weights', lossWeightsWgsl, {
  bind: ['minibatch', 'masks', 'rewards', 'corrections', 'weights', 'knobs'],
  grid: ({ M = 1 }) => foldedGrid(ceilDiv(8 * M, 64)),
  flops: timesDims(6, 'M T'),
  bytes: timesDims(72, 'M T'),
});
const lanes = (count: 'M' | 'N') => ({
  grid: ({ LANES = 1, ...dims }: Dims) => foldedGrid(ceilDiv(dimOf(dims, count) * LANES, 64)),
  flops: timesDims(6, `${count} V`),
});
/** Additional dim: LANES, equal to the constant LANES. */
export const languageHead = kernel('language_head', languageHeadWgsl, {
  ...lanes('M'),
  bind: ['record', 'grammar', 'targets', 'logits', 'teacher', 'scores', 'knobs'],
  bytes: timesDims(4, 'M V'),
});
/** Additional dim: LANES, equal to the constant LANES. */
export const languageHeadBackward = kernel('language_head_backward', languageHeadBackwardWgsl, {
  ...lanes('N'),
  bind: ['record', 'grammar', 'targets', 'starts', 'scores', 'coefficients', 'teacher', 'logits', 'knobs'],
  bytes: timesDims(8, 'N V'),
});
export const teacherRows = kernel('teacher_rows', teacherRowsWgsl, {
  grid: ({ M = 1, V = 1 }) => foldedGrid(ceilDiv(M * V, 64)),
  flops: timesDims(2, 'M V'),
  bind: ['record', 'grammar', 'targets', 'logits', 'scores', 'teacher', 'knobs'],
  bytes: timesDims(8, 'M V'),
});
export const objective = kernel('objective', objectiveWgsl, {
  bind: ['rows', 'scores', 'old_scores', 'ref_scores', 'values', 'old_values', 'targets', 'coefficients', 'knobs'],
  grid: lineGrid('N'),
  flops: timesDims(40, 'N'),
  bytes: timesDims(100, 'N'),
});
export const valueHead = kernel('value_head', valueHeadWgsl, {
  bind: ['hidden', 'weight', 'bias', 'targets', 'values'],
  grid: lineGrid('M'),
  flops: timesDims(2, 'M C'),
  bytes: trafficBytes({ hidden: 'M C' }),
});
export const valueBackward = kernel('value_backward', valueBackwardWgsl, {
  bind: ['hidden', 'weight', 'targets', 'starts', 'coefficients', 'dhidden', 'grads'],
  grid: ({ N = 1, C = 1, parts = 1 }) => foldedGrid(ceilDiv(N * C + parts * (C + 1), 64)),
  flops: timesDims(4, 'N C'),
  bytes: trafficBytes({ hidden: 'N C', dhidden: '2 N C' }),
});
