import { ceilDiv, folded, kernel, type Dims } from '../kernel.ts';
import languageHeadWgsl from './language_head.wgsl';
import languageHeadBackwardWgsl from './language_head_backward.wgsl';
import lossWeightsWgsl from './loss_weights.wgsl';
import objectiveWgsl from './objective.wgsl';
import valueBackwardWgsl from './value_backward.wgsl';
import valueHeadWgsl from './value_head.wgsl';
import { each, line, traffic } from './costs.ts';

// Kernels from logits and hidden states to scores and the objective, and back to gradients.
export const lossWeights = kernel('loss_weights', lossWeightsWgsl, {
  bind: ['minibatch', 'masks', 'weights', 'knobs'],
  grid: ({ M = 1 }) => folded(ceilDiv(5 * M, 64)),
  flops: each(5, 'M T'),
  bytes: each(32, 'M T'),
});
const perRow = { grid: ({ N = 1, LANES = 1 }: Dims) => folded(ceilDiv(N * LANES, 64)), flops: each(6, 'N V') };
/** Additional dim: LANES, equal to the constant LANES. */
export const languageHead = kernel('language_head', languageHeadWgsl, {
  ...perRow,
  bind: ['record', 'grammar', 'rows', 'logits', 'scores', 'knobs'],
  bytes: each(4, 'N V'),
});
/** Additional dim: LANES, equal to the constant LANES. */
export const languageHeadBackward = kernel('language_head_backward', languageHeadBackwardWgsl, {
  ...perRow,
  bind: ['record', 'grammar', 'rows', 'scores', 'coefficients', 'logits', 'knobs'],
  bytes: each(8, 'N V'),
});
export const objective = kernel('objective', objectiveWgsl, {
  bind: ['rows', 'scores', 'old_scores', 'ref_scores', 'values', 'old_values', 'targets', 'coefficients', 'knobs'],
  grid: line('N'),
  flops: each(40, 'N'),
  bytes: each(100, 'N'),
});
export const valueHead = kernel('value_head', valueHeadWgsl, {
  bind: ['hidden', 'weight', 'bias', 'record', 'rows', 'values'],
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
