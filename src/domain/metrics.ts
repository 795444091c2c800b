import { ENGINE_METRICS, withUnits } from './engineMetrics.ts';

/** Every number that a run reports, with its label, unit and definition. The keys follow verl and RAGEN. */
export const METRICS = withUnits({
  'critic/score/mean': {
    label: 'Reward',
    headline: true,
    doc: 'Mean total reward of a rollout, before any KL penalty in the reward.',
  },
  'rollout/success': {
    label: 'Training success',
    headline: true,
    doc: 'Share of training rollouts that solved their task (sampled).',
  },
  'rollout/em': {
    label: 'Exact match',
    doc: 'Share of rollouts whose answer, normalised as in HotpotQA’s evaluation, is the wanted one.',
  },
  'rollout/sub_em': {
    label: 'Answer contained',
    doc: 'Share of rollouts whose normalised answer has the wanted one somewhere in it; looser than an exact match.',
  },
  'rollout/f1': {
    label: 'Answer F1',
    doc: 'Token F1 of answer and wanted answer as in HotpotQA’s evaluation, mean over rollouts; 0 without an answer.',
  },
  'actor/entropy': {
    label: 'Entropy',
    unit: 'nats',
    headline: true,
    doc: 'How undecided the agent is at a token: the entropy of its next-token distribution. The entropy bonus is a multiple of it. The curve is the average over the tokens in the loss, and over the optimizer steps of the update. The knob “Aggregation” sets how tokens are averaged; “Mask: entropy and KL” sets which tokens count. Where the call format allows only one token, its entropy is 0; “Mask forced tokens” leaves such tokens out.',
  },
  'rollout/entropy': {
    label: 'Entropy per token',
    unit: 'nats',
    doc: 'Mean entropy of the policy that drew the tokens, over the tokens that entropy and KL count. It does not depend on the aggregation.',
  },
  'rollout/single_choices': {
    label: 'Forced tokens',
    doc: 'Share of the agent’s tokens that were the only legal choice, so nothing was decided there. With “Mask forced tokens” off, each of them adds 0 to entropy, KL, clip fraction and loss, which lowers these means.',
  },
  'rollout/choice_entropy': {
    label: 'Entropy of choices',
    unit: 'nats',
    doc: 'Mean entropy over the agent’s tokens that had more than one legal choice, of the policy that drew them.',
  },
  'actor/grad_norm': {
    label: 'Grad norm',
    headline: true,
    doc: 'How large the gradient is before it is clipped: its norm over all weights, mean over the optimizer steps of the update.',
  },
  'rollout/in_group_reward_std': {
    label: 'Reward spread',
    headline: true,
    doc: 'Standard deviation (n − 1) of the rewards of one prompt’s rollouts, mean over prompts.',
  },
  'actor/ppo_kl': {
    label: 'KL to old policy',
    unit: 'nats',
    headline: true,
    doc: 'How far this update has moved the policy: the old minus the new log-probability of a token, mean over the tokens in the loss. A simple estimate of the KL divergence (k1), which can be negative. Where the grammar allowed only one token (a forced token), it counts as 0; with “Mask forced tokens” on, it is left out.',
  },
  'actor/ppo_kl_last': {
    label: 'KL to old policy, last step',
    unit: 'nats',
    doc: 'KL to the old policy (k1, as in actor/ppo_kl) at the last optimizer step of the update: how stale the batch had become.',
  },
  'eval/tasks': {
    label: 'Evaluated tasks',
    once: true,
    doc: 'Number of different tasks in an evaluation. Two tasks with the same question about the same things count as one. Each task is played once greedily. It is also played at the training temperature, as many times as fit into evalTasks.',
  },
  'eval/all_tasks': {
    label: 'All tasks evaluated',
    once: true,
    doc: '1 if the evaluation plays every task that it could draw, so that success has no sampling error; 0 if its tasks are a sample.',
  },
  'eval/success': {
    label: 'Success on evaluated tasks',
    doc: 'Share of evaluated tasks solved when the agent always takes its likeliest word (greedy).',
  },
  'eval/success_sampled': {
    label: 'Success on evaluated tasks, sampled',
    doc: 'Share of evaluated tasks solved at the training temperature.',
  },
  'eval/malformed': {
    label: 'Malformed on evaluated tasks',
    doc: 'Share of the turns on evaluated tasks that were malformed, greedy.',
  },
  'eval/malformed_sampled': {
    label: 'Malformed on evaluated tasks, sampled',
    doc: 'Share of the turns on evaluated tasks that were malformed, at the training temperature.',
  },
  'eval/calls': {
    label: 'Calls on evaluated tasks',
    doc: 'Tool calls per episode that got an answer, on evaluated tasks, greedy. If it falls to zero, the agent has stopped using its tool.',
  },
  'eval/success_entities': {
    label: 'Held-out entities',
    doc: 'Share of solved tasks about entities that appear in no training task, greedy. Only for environments that set some entities aside.',
  },
  'eval/success_shifted': {
    label: 'Out of domain',
    doc: 'Share of solved tasks, greedy, among tasks that differ from all training tasks. Searches over facts have one hop more. In number hunt the tool fails one time in five. FrozenLake has gymnasium’s slippery ice. Sokoban and calculator need longer solutions. Countdown has one number more. The bandit’s names are reversed.',
  },
  'eval/naive_rag': {
    label: 'Naive RAG',
    once: true,
    doc: 'Share of evaluated tasks solved when one retrieval is put into the prompt and the agent only answers, greedy.',
  },
  'baseline/expert': {
    label: 'Expert',
    once: true,
    doc: 'Share of evaluated tasks the scripted expert solves. It is below 1 where chance decides part of the outcome.',
  },
  'baseline/rule': {
    label: 'Simple rule',
    once: true,
    doc: 'Share of evaluated tasks solved by a simple rule without search or learning, where the environment has one.',
  },
  'baseline/numbers': {
    label: 'Numbers in the texts',
    once: true,
    doc: 'Different numbers that the scripted expert reads or writes in the evaluated tasks. Only measured in an environment that a person wrote. Arithmetic with many numbers is hard for a small agent.',
  },
  'baseline/random': {
    label: 'Random play',
    once: true,
    doc: 'Share of evaluated tasks solved by random play: each token is drawn uniformly from those the grammar mask allows. Each task is played four times.',
  },
  'eval/em': { label: 'Exact match on evaluated tasks', doc: 'As rollout/em, on evaluated tasks, greedy.' },
  'eval/sub_em': {
    label: 'Answer contained, on evaluated tasks',
    doc: 'As rollout/sub_em, on evaluated tasks, greedy.',
  },
  'eval/f1': { label: 'Answer F1 on evaluated tasks', doc: 'As rollout/f1, on evaluated tasks, greedy.' },
  'eval/score': { label: 'Reward on evaluated tasks', doc: 'Mean reward on evaluated tasks, greedy.' },
  'actor/pg_loss': { label: 'Policy loss', doc: 'The clipped surrogate, aggregated.' },
  'actor/pg_clipfrac': {
    label: 'Clip fraction',
    doc: 'Share of loss tokens whose clipped branch is the larger loss. A token that was the only legal choice never clips, but it is counted, unless “Mask forced tokens” is on.',
  },
  'actor/pg_clipfrac_lower': {
    label: 'Dual-clip fraction',
    doc: 'Share of all loss tokens whose loss dual clip capped. Only tokens with A < 0 can be capped.',
  },
  'actor/kl_loss': {
    label: 'KL to reference',
    unit: 'nats',
    doc: 'KL to the reference policy with the chosen estimator, aggregated as the policy loss is.',
  },
  'actor/loss': { label: 'Total loss', doc: 'policy − entropyCoef · entropy + klCoef · KL + valueCoef · value.' },
  'actor/lr': { label: 'Learning rate', doc: 'The learning rate of this update.' },
  'critic/score/min': { label: 'Lowest reward', doc: 'The lowest reward of a rollout in the batch.' },
  'critic/score/max': { label: 'Highest reward', doc: 'The highest reward of a rollout in the batch.' },
  'actor/observation_loss': {
    label: 'Observation loss',
    unit: 'nats',
    doc: 'How badly the agent predicts its tools’ answers: mean −log π over the words of observations, mean over the optimizer steps. Measured if the observation loss λ is above 0, which weights it in the loss.',
  },
  'actor/teacher_kl': {
    label: 'KL to the teacher',
    unit: 'nats',
    doc: 'How far the agent’s distribution is from its teacher’s: the exact reverse KL, mean over the tokens in the policy loss that have a teacher, and over the optimizer steps. Measured if there is a teacher.',
  },
  'critic/vf_loss': {
    label: 'Value loss',
    doc: 'Half of the larger of two squared errors, clipped and unclipped. It is aggregated over the value mask as the policy loss is.',
  },
  'critic/vf_explained_var': {
    label: 'Value fit',
    doc: '1 − Var(returns − values) / Var(returns) over the value mask.',
  },
  'critic/grad_norm': { label: 'Critic gradient norm', doc: 'Gradient norm of a separate critic, before clipping.' },
  'critic/advantages/mean': { label: 'Mean advantage', doc: 'Mean advantage over the advantage mask.' },
  'rollout/zero_std_groups': {
    label: 'Flat groups',
    doc: 'Share of prompts whose rollouts all scored the same: they teach nothing.',
  },
  'critic/rewards/mean': {
    label: 'Reward after KL',
    doc: 'Mean over rollouts of the summed reward that the estimator gets: after the KL is subtracted.',
  },
  'actor/reward_kl_penalty': {
    label: 'KL to reference, in the reward',
    unit: 'nats',
    doc: 'KL estimate between the old policy and the reference. For each rollout it is the mean over the tokens whose reward it changes; then the mean over rollouts is taken.',
  },
  'actor/reward_kl_penalty_coeff': {
    label: 'KL in reward β',
    doc: 'Weight of the KL in the reward. With a KL target, the adaptive controller changes it.',
  },
  'rollout/filter_kept_ratio': { label: 'Prompts kept', doc: 'Share of the prompts that the group filter kept.' },
  'rollout/repeated_actions': {
    label: 'Repeated actions',
    doc: 'Share of turns that repeat an earlier turn of the same rollout word for word.',
  },
  'rollout/echo_share': {
    label: 'Same rollout',
    doc: 'Share of a prompt’s rollouts that took the most common sequence of actions, mean over prompts.',
  },
  'collapse/mi_seq_estimate': {
    label: 'Input dependence',
    unit: 'nats',
    doc: 'How much a turn depends on what the agent had read before: RAGEN-2’s estimate of the mutual information, with the log-probability of the whole turn (its `mi_seq_estimate`). With N turns compared it is at most log N.',
  },
  'collapse/conditional_entropy_seq_est': {
    label: 'Turn entropy H(Z|X)',
    unit: 'nats',
    doc: 'How varied turns are after the same context: −log-probability of a whole turn after its own context, mean over the turns compared (RAGEN-2’s `conditional_entropy_seq_est`). High with low input dependence is template collapse: varied turns that ignore what was read.',
  },
  'collapse_first_turn_exact/mi_seq': {
    label: 'First turn: input dependence, exact',
    unit: 'nats',
    doc: 'Mutual information between task and first turn, exact: all first turns that the grammar allows are scored for N tasks of the batch. I = mean over tasks of Σ p(z) log(p(z) / mean p(z)); 0 if the first turn ignores the task, at most log N. Measured if there are few enough legal first turns and prompts differ.',
  },
  'collapse_first_turn_exact/conditional_entropy_seq': {
    label: 'First turn: H(Z|X), exact',
    unit: 'nats',
    doc: 'Entropy of the first turn given the task, exact, mean over the same tasks.',
  },
  'collapse_first_turn_sample/mi_seq_estimate': {
    label: 'First turn: input dependence, sampled',
    unit: 'nats',
    doc: 'RAGEN-2’s estimate of the same mutual information from one drawn first turn for each task. The turns were drawn just before the update and are scored just after it. Can be negative.',
  },
  'collapse_first_turn_sample/mi_seq_error': {
    label: 'First turn: sampling error',
    unit: 'nats',
    doc: 'Standard error of the sampled estimate: the standard deviation over its N turns / √N. It also counts how much tasks differ, so it is rather too large.',
  },
  'collapse_first_turn_sample/conditional_entropy_seq_est': {
    label: 'First turn: H(Z|X), sampled',
    unit: 'nats',
    doc: 'Mean −log-probability of the drawn first turns, each given its own task.',
  },
  'collapse_first_turn_sample/mi_upper_bound': {
    label: 'First turn: largest possible',
    unit: 'nats',
    doc: 'log N: the most that N tasks can differ in.',
  },
  'collapse/retrieval_accuracy': {
    label: 'Turn ↔ context',
    doc: 'Share of turns that are likelier after their own context than after any of the other N − 1 contexts compared.',
  },
  'collapse/retrieval_chance_level': {
    label: 'Turn ↔ context, by chance',
    doc: 'The same share if turns did not depend on their context: 1 / N, with N contexts compared.',
  },
  'mask/observation_weights': {
    label: 'Tool’s words in the loss',
    unit: 'tokens',
    doc: 'Number of observation tokens that the policy loss pushed: their weight in the last epoch is not 0.',
  },
  'mask/observation_share': {
    label: 'Update spent on the tool’s words',
    doc: 'Share of the loss’s push that went to observation tokens: Σ|weight| over them / Σ|weight| over all tokens. A weight is d(loss)/d(log-probability). An observation loss counts too.',
  },
  'mask/reward_outside': {
    label: 'Reward lost to the mask',
    doc: 'Reward at tokens outside the advantage mask, Σ|reward| per rollout. The estimator never sees it.',
  },
  'mask/length_mismatch': {
    label: 'Mask length errors',
    unit: 'rollouts',
    doc: 'Rollouts whose masks reach past their last token or leave out one of the agent’s tokens (except forced tokens with “Mask forced tokens” on, and turns that “Trained turns” leaves out). Anything but 0 is a bug.',
  },
  'reward/outcome': { label: 'Outcome reward', doc: 'Per rollout.' },
  'reward/process': { label: 'Process reward', doc: 'Per rollout.' },
  'reward/call': { label: 'Call reward', doc: 'Per rollout.' },
  'reward/format': { label: 'Format penalty', doc: 'Per rollout; negative.' },
  'reward/think': { label: 'Thinking reward', doc: 'Per rollout.' },
  'reward/turnCost': { label: 'Turn cost', doc: 'Per rollout; negative.' },
  'reward/information': {
    label: 'Information gain',
    doc: 'Per rollout: the reward for making the right answer likelier.',
  },
  'reward/preference': { label: 'Preference reward', doc: 'Per rollout, centred over the batch.' },
  'reward_model/score': {
    label: 'Reward model’s score',
    doc: 'Mean over rollouts of the reward model’s score, before it is weighted and centred.',
  },
  'reward_model/loss': {
    label: 'Preference loss',
    unit: 'nats',
    doc: '−mean log σ(r_better − r_worse) over the pairs of the last fit (Bradley–Terry).',
  },
  'reward_model/agreement': {
    label: 'Agreement',
    doc: 'Share of held-out pairs the reward model orders as the labeller did.',
  },
  'rollout/logprob_mismatch': {
    label: 'Sampler mismatch',
    unit: 'nats',
    doc: 'Largest difference in the batch between a log-probability as sampled and as recomputed. Above 1e-3 (4e-3 with f16 storage) there is a bug.',
  },
  'rollout/truncation_kl': {
    label: 'KL of draws to policy',
    unit: 'nats',
    doc: 'With top-k or top-p, tokens are drawn from a truncated distribution q, not from the policy π. This is the mean of log q − log π over the agent’s tokens. At each token it is KL(q ‖ π) = −log of the probability kept. Ratio, KL and entropy use π, so this is how far off-policy the batch is.',
  },
  'rollout/staleness': {
    label: 'Staleness',
    unit: 'updates',
    doc: 'How many updates old the weights were that drew the batch. At the start of a run there are no weights as old as the knob says.',
  },
  'rollout/drifted_tokens': {
    label: 'Drifted tokens',
    doc: 'Share of the agent’s tokens that were not drawn, because their turn was decoded to text and encoded again (retokenize). Other tokens of the same text were drawn in their place.',
  },
  'rollout_corr/kl': {
    label: 'KL of sampler to learner',
    unit: 'nats',
    doc: 'Behaviour minus old log-probability, mean over the agent’s tokens. Behaviour: as the token was drawn, by older weights, with top-k or top-p, or as other tokens of the same text. Old: under the weights just before the update. An estimate of KL(behaviour ‖ old), k1.',
  },
  'rollout_corr/k3_kl': {
    label: 'KL of sampler to learner (k3)',
    unit: 'nats',
    doc: 'The same KL by k3: r − 1 − log r, r = π_old / π_behaviour. Never below 0, and less noisy.',
  },
  'rollout_corr/ppl_ratio': {
    label: 'Perplexity ratio',
    doc: 'Perplexity of a rollout under the learner, divided by that under what drew it, mean over rollouts. 1: the same.',
  },
  'rollout_corr/chi2_token': {
    label: 'χ² per token',
    doc: 'Mean of r² − 1 over the agent’s tokens: the variance of the importance ratios. 0: what drew the batch is the learner.',
  },
  'rollout_corr/chi2_seq': {
    label: 'χ² per rollout',
    doc: 'The same with the product of all ratios of a rollout. It shows how widely sequence-level weights spread.',
  },
  'rollout_corr/rollout_is_eff_sample_size': {
    label: 'Effective sample size',
    doc: '(mean w)² / mean w² over the agent’s tokens, as a share: 1 means that every token counts the same. w: the weights of the off-policy correction; without one, or with rejection, the ratios of the tokens.',
  },
  'rollout_corr/rollout_is_mean': {
    label: 'Mean importance weight',
    doc: 'Mean of the same weights w. Below 1: limits have cut the total weight.',
  },
  'rollout_corr/rollout_is_ratio_fraction_high': {
    label: 'Truncated weights',
    doc: 'Share of the agent’s tokens whose importance ratio was cut to its largest value.',
  },
  'rollout_corr/rollout_is_oob_ratio': {
    label: 'Masked weights',
    doc: 'Share of the agent’s tokens whose importance ratio is outside the limits, so that their weight is 0.',
  },
  'rollout_corr/rollout_rs_masked_fraction': {
    label: 'Rejected tokens',
    doc: 'Share of the agent’s tokens that the off-policy correction took out of the losses.',
  },
  'rollout/invalid_turns': { label: 'Malformed turns', doc: 'Per rollout.' },
  'rollout/truncated': { label: 'Truncated', doc: 'Share of rollouts cut off by the token limit.' },
  'response_length/mean': { label: 'Response length', unit: 'tokens', doc: 'Agent and observation tokens.' },
  'action/ratio': { label: 'Agent share', doc: 'Agent tokens / response tokens.' },
  'num_turns/mean': { label: 'Turns', doc: 'Turns per rollout, the answer included.' },
  'rollout/waited_turns': {
    label: 'Turns waited',
    doc: 'Turns per rollout that passed while a tool’s answer was late.',
  },
  'tool_call_counts/mean': { label: 'Tool calls', doc: 'Per rollout.' },
  ...ENGINE_METRICS,
});

export type MetricName = keyof typeof METRICS;
/** A metric of another program that the page has no name for: it keeps its own. */
export type ForeignMetric = string & { readonly isForeign: true };
export type CurveName = MetricName | ForeignMetric;
export type Metrics = Partial<Record<MetricName, number>>;

const FORMER_NAMES: ReadonlyMap<string, MetricName> = new Map([['collapse/mi_estimate', 'collapse/mi_seq_estimate']]);

/** The metric that a stored run calls `name`, by its present or a former name; undefined if there is none. */
export function metricNamed(name: string): MetricName | undefined {
  return Object.hasOwn(METRICS, name) ? (name as MetricName) : FORMER_NAMES.get(name);
}
