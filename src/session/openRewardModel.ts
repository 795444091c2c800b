import type { RunConfig } from '../config/fields.ts';
import { createCpuPolicy } from '../model/cpu/cpuPolicy.ts';
import type { Weights } from '../model/architecture.ts';
import type { Policy, PolicySpec } from '../model/policy.ts';
import { checkState } from '../model/savedState.ts';
import { learningMath } from '../rl/plainLearningMath.ts';
import { createRewardModel, type RewardModel } from '../rl/rewardModel.ts';
import { CheckpointError, type Checkpoint } from '../runs/checkpoint.ts';

// Pairs of a fitting step, times two.
const REWARD_MODEL_ROWS = 64;

/**
 * A reward model of the policy's own shape, with a scalar head that begins at 0 on a copy of `first`, the policy's starting weights, or as it
 * was in `from`; null where the knobs want none. It is small and has to answer between two stages of an update, so it lives
 * on the CPU whatever the policy runs on. Throws CheckpointError where `from` has learned without one, or has one of another shape.
 */
export function openRewardModel(
  policy: Policy,
  { seed, rewardModel }: RunConfig,
  from: Checkpoint | null,
  first: Weights,
): RewardModel | null {
  if (rewardModel === 'off') return null;
  if (from && from.progress.update > 0 && !from.rewardModel)
    throw new CheckpointError('Its knobs need a reward model, but it has none.');
  const spec: PolicySpec = {
    model: { ...policy.model, value_head: true },
    critic: 'shared',
    rows: REWARD_MODEL_ROWS,
    length: policy.length + 1, // r stands after the last token
    minibatchRows: REWARD_MODEL_ROWS,
  };
  const judge = createCpuPolicy(spec, learningMath, { precision: 'f32', seed, reason: '' });
  const opened = createRewardModel(judge, { seed });
  if (from?.rewardModel) {
    try {
      checkState(judge, false, { policy: from.rewardModel.network, critic: null });
      opened.restore(from.rewardModel);
    } catch (error) {
      const why = error instanceof Error ? error.message : '';
      throw new CheckpointError(`Its reward model is not this run's: ${why}`);
    }
  } else {
    judge.writeWeights(new Map([...first].filter(([name]) => !name.startsWith('value_head.'))));
  }
  return opened;
}
