import type { RunConfig } from '../config/config.ts';
import type { TokenGradients } from '../model/learningMath.ts';
import type { BatchView } from '../domain/batch.ts';
import { creditOf, type Lesson } from './lesson.ts';
import { objective } from './objective.ts';
import { creditSettings } from './settings.ts';

/** What can be tried on a batch: one of the two switches, or both together. */
export type GhostSwitch = 'lossMask' | 'advantageMask' | 'masks';

/** The knobs with a switch turned; `masks` turns both off, and on where both are off. */
function turnedKnobs(config: RunConfig, flipped: GhostSwitch): RunConfig {
  const other = (value: 'on' | 'off') => (value === 'on' ? 'off' : 'on');
  if (flipped !== 'masks') return { ...config, [flipped]: other(config[flipped]) };
  const both = config.lossMask === 'off' && config.advantageMask === 'off' ? 'on' : 'off';
  return { ...config, lossMask: both, advantageMask: both };
}

/**
 * A batch as its update would have treated it with a switch turned, or both: masks, advantages and gradient weights, these at the
 * first pass, where the policy is still the one that drew the batch and every ratio is 1. Each row's weights are those of the
 * last minibatch it was dealt into. Nothing is run and nothing learned: it is arithmetic on what was recorded.
 */
export function ghostBatch(batch: BatchView, config: RunConfig, lesson: Lesson, flipped: GhostSwitch): BatchView {
  const turned = turnedKnobs(config, flipped);
  const { klCoef, scale } = lesson.credit;
  const credit = creditOf(batch, { ...lesson.credit, masks: creditSettings(turned, klCoef, scale).masks });
  const { masks, advantages, returns } = credit;
  const { logprobs, entropies, values, refLogprobs, length } = batch;
  const seen = {
    ...{ length, logprobs, entropies, values, refLogprobs, advantages, returns },
    ...{ oldLogprobs: logprobs, oldValues: values },
    ...{ lossMask: masks.policy, regularizerMask: masks.regularizer, valueMask: masks.value },
  };
  const out: TokenGradients = {
    dlogprobs: new Float64Array(logprobs.length),
    policyWeights: new Float64Array(logprobs.length),
    dentropies: new Float64Array(logprobs.length),
    dvalues: new Float64Array(logprobs.length),
  };
  for (const step of lesson.steps) objective(seen, step.rows, step.objective, out);
  return {
    ...batch,
    passes: [], // what is kept of them is what was done
    advantages: Float32Array.from(advantages),
    returns: Float32Array.from(returns),
    lossMask: masks.policy,
    advantageMask: masks.advantage,
    gradWeights: Float32Array.from(out.dlogprobs),
    policyWeights: Float32Array.from(out.policyWeights),
  };
}
