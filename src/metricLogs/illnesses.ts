import type { Evidence, TrapKind } from '../domain/health.ts';
import type { MetricName } from '../domain/metrics.ts';

/** The monitor's two traps, then its signs by their own names, then the doctor's own five. */
export type IllnessName = TrapKind | Evidence['sign'] | 'still' | 'truncated' | 'overfit' | 'calls' | 'stale';

export interface Illness {
  readonly title: string;
  /** The curves that show it, the best first. */
  readonly metrics: readonly MetricName[];
  /** What the log must have: one metric of each list. */
  readonly needs: readonly (readonly MetricName[])[];
  readonly tries: readonly string[]; // what people try, most often first
  readonly href: string | null; // where the page reproduces it, and shows what helps
  /** Runs of this project that learned, and those of them in which it was found nevertheless. */
  readonly falseAlarms: { readonly alarms: number; readonly runs: number };
}

const LOWER_RATE = 'Halve the learning rate.';
const CONTINUE_EARLIER = 'Go back to a checkpoint from before it, and continue with one of these changes.';
const MORE_ENTROPY = 'Raise the entropy bonus, or clip higher (clip-higher, 0.28).';
const DROP_FLAT = 'Leave out prompts whose rollouts all score the same (dynamic sampling, StarPO-S).';
const LARGER_GROUPS = 'Draw more rollouts for each prompt, or choose prompts of medium difficulty.';
const PAY_FOR_PROGRESS = 'Pay for progress, not only for success.';
const REWARD_OR_SUCCESS = ['rollout/success', 'critic/score/mean'] as const;
const SPREAD = ['rollout/in_group_reward_std', 'rollout/zero_std_groups', 'rollout/echo_share'] as const;

/** Runs that learned, of 156 on seeds that no threshold was chosen on (docs/algorithms.md, “How far to trust it”). */
const HEALTHY_RUNS = 84;

/** Everything that the doctor finds. */
export const ILLNESSES: Readonly<Record<IllnessName, Illness>> = {
  collapse: {
    title: 'Success fell and rollouts became alike (Echo Trap)',
    metrics: [...REWARD_OR_SUCCESS],
    needs: [REWARD_OR_SUCCESS, SPREAD],
    tries: [CONTINUE_EARLIER, MORE_ENTROPY, DROP_FLAT, LOWER_RATE],
    href: '#/answers/entropy',
    falseAlarms: { alarms: 0, runs: HEALTHY_RUNS },
  },
  blind: {
    title: 'Rollouts became alike and ignore what the agent reads',
    metrics: ['collapse/retrieval_accuracy'],
    needs: [['collapse/retrieval_accuracy'], SPREAD],
    tries: [MORE_ENTROPY, DROP_FLAT, 'Begin with a short warm-up (SFT).'],
    href: '#/answers/sft-first',
    falseAlarms: { alarms: 0, runs: HEALTHY_RUNS },
  },
  success: {
    title: 'Success fell by half',
    metrics: [...REWARD_OR_SUCCESS],
    needs: [REWARD_OR_SUCCESS],
    tries: [CONTINUE_EARLIER, LOWER_RATE, 'Add a KL penalty to a reference.'],
    href: '#/answers/entropy',
    falseAlarms: { alarms: 0, runs: HEALTHY_RUNS },
  },
  still: {
    title: 'Success hasn’t risen',
    metrics: [...REWARD_OR_SUCCESS],
    needs: [REWARD_OR_SUCCESS],
    tries: ['Begin with a short warm-up (SFT), or with easier prompts.', LARGER_GROUPS, PAY_FOR_PROGRESS],
    href: '#/answers/sft-first',
    falseAlarms: { alarms: 0, runs: HEALTHY_RUNS },
  },
  reward: {
    title: 'Reward up, success not',
    metrics: ['critic/score/mean'],
    needs: [['rollout/success'], ['reward/outcome', 'reward_model/score']],
    tries: ['Read the rollouts with the highest reward.', 'Pay less for the part that gained.', 'Add a KL penalty.'],
    href: '#/answers/hacked',
    falseAlarms: { alarms: 0, runs: HEALTHY_RUNS },
  },
  overfit: {
    title: 'Validation fell, training didn’t',
    metrics: ['eval/success_sampled', 'eval/success', 'eval/success_shifted', 'eval/score'],
    needs: [REWARD_OR_SUCCESS, ['eval/success_sampled', 'eval/success', 'eval/success_shifted', 'eval/score']],
    tries: ['Train on tasks that are like the validation tasks.', 'Stop earlier.', 'Add a KL penalty.'],
    href: '#/answers/overfit',
    falseAlarms: { alarms: 0, runs: HEALTHY_RUNS },
  },
  calls: {
    title: 'Tool calls vanish',
    metrics: ['tool_call_counts/mean'],
    needs: [['tool_call_counts/mean']],
    tries: ['Don’t charge for turns, calls or length.', 'Pay for a call that makes progress.', LARGER_GROUPS],
    href: '#/answers/tool-calls',
    falseAlarms: { alarms: 0, runs: HEALTHY_RUNS },
  },
  spread: {
    title: 'Rewards of a prompt’s rollouts became alike',
    metrics: ['rollout/in_group_reward_std'],
    needs: [['rollout/in_group_reward_std']],
    tries: [LARGER_GROUPS, DROP_FLAT, MORE_ENTROPY],
    href: '#/answers/group-size',
    falseAlarms: { alarms: 2, runs: HEALTHY_RUNS },
  },
  flat: {
    title: 'Most groups have no spread',
    metrics: ['rollout/zero_std_groups'],
    needs: [['rollout/zero_std_groups']],
    tries: [LARGER_GROUPS, DROP_FLAT, PAY_FOR_PROGRESS],
    href: '#/answers/group-size',
    falseAlarms: { alarms: 0, runs: HEALTHY_RUNS },
  },
  echo: {
    title: 'Rollouts repeat each other or themselves',
    metrics: ['rollout/echo_share', 'rollout/repeated_actions'],
    needs: [['rollout/echo_share', 'rollout/repeated_actions']],
    tries: [MORE_ENTROPY, 'Raise the temperature.', DROP_FLAT],
    href: '#/answers/entropy',
    falseAlarms: { alarms: 2, runs: HEALTHY_RUNS },
  },
  entropy: {
    title: 'Entropy fell below half',
    metrics: ['actor/entropy', 'rollout/entropy'],
    needs: [['actor/entropy', 'rollout/entropy']],
    tries: [MORE_ENTROPY, 'Raise the temperature.', LOWER_RATE],
    href: '#/answers/entropy',
    falseAlarms: { alarms: 2, runs: HEALTHY_RUNS },
  },
  input: {
    title: 'Turns may not depend on what the agent reads',
    metrics: ['collapse/retrieval_accuracy', 'rollout/in_group_reward_std', 'rollout/zero_std_groups'],
    needs: [['collapse/retrieval_accuracy']],
    tries: ['Change what the tool answers, and look whether the next turn changes.', DROP_FLAT],
    href: '#/learn/trap',
    falseAlarms: { alarms: 0, runs: HEALTHY_RUNS },
  },
  gradient: {
    title: 'Gradient spike',
    metrics: ['actor/grad_norm'],
    needs: [['actor/grad_norm']],
    tries: ['Clip the gradient norm at 1 or lower.', LOWER_RATE, 'Look at the rollouts of that step.'],
    href: null,
    falseAlarms: { alarms: 0, runs: HEALTHY_RUNS },
  },
  length: {
    title: 'Lengths drift while success doesn’t rise',
    metrics: ['response_length/mean'],
    needs: [['response_length/mean']],
    tries: ['Average the loss over tokens, not over rollouts.', 'Look for a part of the reward that pays for length.'],
    href: '#/answers/tool-calls',
    falseAlarms: { alarms: 0, runs: HEALTHY_RUNS },
  },
  truncated: {
    title: 'Most rollouts are cut off',
    metrics: ['rollout/truncated'],
    needs: [['rollout/truncated']],
    tries: ['Raise the limit of tokens.', 'Leave rollouts that were cut off out of the loss.', 'Take some reward off near the limit.'], // prettier-ignore
    href: null,
    falseAlarms: { alarms: 0, runs: HEALTHY_RUNS },
  },
  stale: {
    title: 'Rollouts come from other weights than those that learn',
    metrics: ['rollout_corr/kl'],
    needs: [['rollout_corr/kl']],
    tries: ['Use rollouts of newer weights.', 'Correct with truncated importance weights.', LOWER_RATE],
    href: '#/answers/staleness',
    falseAlarms: { alarms: 0, runs: HEALTHY_RUNS },
  },
};
