import type { RunConfig } from '../config/fields.ts';
import { createCpuPolicy } from '../model/cpu/cpuPolicy.ts';
import type { Weights } from '../model/architecture.ts';
import type { Policy, PolicySpec } from '../model/policy.ts';
import { checkState } from '../model/savedState.ts';
import { learningMath } from '../rl/plainLearningMath.ts';
import { createRewardModel, type RewardModel } from '../rl/rewardModel.ts';
import { CheckpointError, type Checkpoint } from '../runs/checkpoint.ts';

/** Number of rollouts in a fitting step: two for each of 32 pairs. */
const REWARD_MODEL_ROWS = 64;

/**
 * Opens a reward model with the same architecture as the policy and a scalar head. It continues from the reward model
 * in `from`; without one, it begins with a copy of `initialWeights`, the policy's starting weights, and a head of 0.
 * Null if the knobs ask for no reward model. It always runs on the CPU, because it's small and has to answer between
 * two stages of an update. Throws CheckpointError if `from` was trained without a reward model, or its reward model has
 * another shape.
 */
export function openRewardModel(
  policy: Policy,
  { seed, rewardModel }: RunConfig,
  from: Checkpoint | null,
  initialWeights: Weights,
): RewardModel | null {
  if (rewardModel === 'off') return null;
  if (from && from.progress.update > 0 && !from.rewardModel)
    throw new CheckpointError('Its knobs need a reward model, but it has none.');
  const spec: PolicySpec = {
    model: { ...policy.model, value_head: true },
    critic: 'shared',
    rows: REWARD_MODEL_ROWS,
    length: policy.length + 1, // the score r is read one token after the last
    minibatchRows: REWARD_MODEL_ROWS,
  };
  const network = createCpuPolicy(spec, learningMath, { seed, reason: '' });
  const opened = createRewardModel(network, { seed });
  if (from?.rewardModel) {
    try {
      checkState(network, false, { policy: from.rewardModel.network, critic: null });
      opened.restore(from.rewardModel);
    } catch (error) {
      const why = error instanceof Error ? error.message : '';
      throw new CheckpointError(`Its reward model is not this run's: ${why}`);
    }
  } else {
    network.writeWeights(new Map([...initialWeights].filter(([name]) => !name.startsWith('value_head.'))));
  }
  return opened;
}
