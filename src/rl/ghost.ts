import type { RunConfig } from '../config.ts';
import type { TokenGradients } from '../model/learningMath.ts';
import type { BatchView } from '../protocol.ts';
import { creditOf, type Lesson } from './lesson.ts';
import { objective } from './objective.ts';
import { creditSettings } from './settings.ts';

/** The two switches that can be tried on a batch. */
export type GhostSwitch = 'lossMask' | 'advantageMask';

/**
 * A batch as its update would have treated it with one switch turned: masks, advantages and gradient weights, these at the
 * first pass, where the policy is still the one that drew the batch and every ratio is 1. Each row's weights are those of the
 * last minibatch it was dealt into. Nothing is run and nothing learned: it is arithmetic on what was recorded.
 */
export function ghostBatch(batch: BatchView, config: RunConfig, lesson: Lesson, flipped: GhostSwitch): BatchView {
  const turned: RunConfig = { ...config, [flipped]: config[flipped] === 'on' ? 'off' : 'on' };
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
    advantages: Float32Array.from(advantages),
    returns: Float32Array.from(returns),
    lossMask: masks.policy,
    advantageMask: masks.advantage,
    gradWeights: Float32Array.from(out.dlogprobs),
    policyWeights: Float32Array.from(out.policyWeights),
  };
}
