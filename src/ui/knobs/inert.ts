import { FIELDS, type Field, type FieldName, type RunConfig } from '../../config/fields.ts';
import { throwsDice } from '../../config/luck.ts';
import { canWhiten, usesCritic, usesGroups } from '../../config/estimators.ts';
import { whitens } from './estimators.ts';
import { agentOnly, idlePlace, idleSwitch, isPlace } from './masks.ts';

/** Why a knob does nothing in this configuration; null where it acts. */
export function inert(name: FieldName, c: RunConfig): string | null {
  const field: Field = FIELDS[name];
  if (field.envs && !field.envs.includes(c.env)) return `${field.envs.join(', ')} only`;
  if (isPlace(name)) return idlePlace(name, c);
  if (name === 'luck' && !throwsDice(c)) return 'nothing is left to the dice here';
  if (name === 'kernels' && c.backend === 'cpu') return 'WebGPU only';
  return idleReward(name, c) ?? idleEstimator(name, c) ?? idleLoss(name, c) ?? idleFilter(name, c);
}

function idleReward(name: FieldName, c: RunConfig): string | null {
  switch (name) {
    case 'thinkReward':
      return c.think === 'off' ? 'the think span is off' : null;
    case 'labellerNoise':
    case 'labellerTaste':
      return c.rewardModel === 'off' ? 'the reward model is off' : null;
    case 'preferenceReward':
      // above 0 it contradicts the missing model, and must stay within reach
      return c.rewardModel === 'off' && c.preferenceReward === 0 ? 'the reward model is off' : null;
    default:
      return null;
  }
}

function idleEstimator(name: FieldName, c: RunConfig): string | null {
  const { estimator } = c;
  switch (name) {
    case 'lossMask':
    case 'advantageMask':
      return idleSwitch(name, c);
    case 'divideByStd':
      return estimator === 'grpo' ? null : 'grpo only';
    case 'whiten':
      return canWhiten(estimator) ? null : `${estimator} does not whiten`;
    case 'gamma':
      return usesGroups(estimator) ? `${estimator} gives a rollout one score` : null;
    case 'lambda':
      return usesCritic(estimator) ? null : 'gae and bi-level-gae only';
    case 'turnGamma':
      return estimator === 'bi-level-gae' ? null : 'bi-level-gae only';
    case 'remask':
      if (!whitens(c)) return 'nothing is whitened';
      if (!agentOnly(c, 'advantageTokens')) return 'the mask lets observations through';
      return agentOnly(c, 'policyTokens') ? 'the policy loss takes in no observations' : null;
    default:
      return null;
  }
}

function idleLoss(name: FieldName, c: RunConfig): string | null {
  switch (name) {
    case 'clipLow':
    case 'clipHigh':
    case 'dualClip':
      return c.surrogate === 'plain' ? 'the plain surrogate has no ratio to clip' : null;
    case 'klEstimator':
      return c.klCoef === 0 ? 'KL β is 0' : null;
    case 'klRewardEstimator':
    case 'klTarget':
      return c.klRewardCoef === 0 ? 'KL in reward β is 0' : null;
    case 'klHorizon':
      if (c.klRewardCoef === 0) return 'KL in reward β is 0';
      return c.klTarget === 0 ? 'KL target is 0' : null;
    case 'valueCoef':
    case 'valueClip':
      if (!usesCritic(c.estimator)) return `${c.estimator} needs no critic`;
      return name === 'valueCoef' && c.critic === 'separate' ? 'a separate critic has its own optimizer' : null;
    case 'criticLearningRate':
      if (!usesCritic(c.estimator)) return `${c.estimator} needs no critic`;
      return c.critic === 'separate' ? null : 'needs a separate critic';
    case 'criticWarmup':
      return c.critic !== 'separate' && c.criticWarmup === 0 ? 'needs a separate critic' : null;
    default:
      return null;
  }
}

function idleFilter(name: FieldName, c: RunConfig): string | null {
  switch (name) {
    case 'filterShare':
      return c.filter === 'top-fraction' ? null : 'top-fraction only';
    case 'filterTopP':
      return c.filter === 'top-p' ? null : 'top-p only';
    case 'filterScore':
    case 'filterScaling':
      return c.filter === 'none' ? 'no prompt is filtered out' : null;
    default:
      return null;
  }
}
