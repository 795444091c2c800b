import { ENGINE_METRICS } from './engineMetrics.ts';
import type { Metric } from './metric.ts';

/** Every number a run reports, once: names as verl and RAGEN use them, unit and definition. */
export const METRICS = {
  'critic/score/mean': {
    label: 'Reward',
    unit: '',
    headline: true,
    doc: 'Mean over rollouts of the summed reward, before any KL.',
  },
  'rollout/success': {
    label: 'Training success',
    unit: '',
    headline: true,
    doc: 'Share of training rollouts that solved their task (sampled).',
  },
  'rollout/em': {
    label: 'Exact match',
    unit: '',
    doc: 'Share of rollouts whose answer, normalised as in HotpotQA’s evaluation, is the wanted one.',
  },
  'rollout/sub_em': {
    label: 'Answer contained',
    unit: '',
    doc: 'Share of rollouts whose normalised answer has the wanted one somewhere in it; looser than an exact match.',
  },
  'rollout/f1': {
    label: 'Answer F1',
    unit: '',
    doc: 'Token F1 of answer and wanted answer as in HotpotQA’s evaluation, mean over rollouts; 0 without an answer.',
  },
  'actor/entropy': {
    label: 'Entropy',
    unit: 'nats',
    headline: true,
    doc: 'Entropy of the next-token distribution, aggregated over the mask of entropy and KL as the policy loss is (verl; with token-mean the mean of tokens, else of rollouts), mean over the optimizer steps of the update. What the entropy bonus multiplies. Choices of one count with 0, unless choiceMask is on.',
  },
  'rollout/entropy': {
    label: 'Entropy per token',
    unit: 'nats',
    doc: 'Mean entropy over all tokens of the mask of entropy and KL, of the policy that drew them, whatever the aggregation.',
  },
  'rollout/single_choices': {
    label: 'Choices of one',
    unit: '',
    doc: 'Share of the agent’s tokens drawn where only one was legal: nothing was decided there. With choiceMask off they count in entropy, KL, clip fraction and the loss, with 0, and dilute them.',
  },
  'rollout/choice_entropy': {
    label: 'Entropy of choices',
    unit: 'nats',
    doc: 'Mean entropy over the agent’s tokens that had more than one legal choice, of the policy that drew them.',
  },
  'actor/grad_norm': {
    label: 'Grad norm',
    unit: '',
    headline: true,
    doc: 'Global norm before clipping, mean over the optimizer steps of the update.',
  },
  'rollout/in_group_reward_std': {
    label: 'Reward spread',
    unit: '',
    headline: true,
    doc: 'Standard deviation (n − 1) of the rewards of one prompt’s rollouts, mean over prompts.',
  },
  'actor/ppo_kl': {
    label: 'KL to old',
    unit: 'nats',
    headline: true,
    doc: 'Mean of old − new log-probability over the loss mask (k1; can be negative). Choices of one count with 0, unless choiceMask is on.',
  },
  'actor/ppo_kl_last': {
    label: 'KL to old policy, last step',
    unit: 'nats',
    doc: 'The same at the last optimizer step of the update: how stale the batch had become.',
  },
  'eval/tasks': {
    label: 'Evaluated tasks',
    unit: '',
    once: true,
    doc: 'Distinct tasks that an evaluation counts; two that ask the same of the same are one. Each is played once greedy, and at the training temperature in as many rounds as evalTasks holds.',
  },
  'eval/success': { label: 'Success on evaluated tasks', unit: '', doc: 'Share of evaluated tasks solved, greedy.' },
  'eval/success_sampled': {
    label: 'Success on evaluated tasks, sampled',
    unit: '',
    doc: 'Share of evaluated tasks solved at the training temperature.',
  },
  'eval/malformed': {
    label: 'Malformed on evaluated tasks',
    unit: '',
    doc: 'Share of the turns on evaluated tasks that were malformed, greedy.',
  },
  'eval/malformed_sampled': {
    label: 'Malformed on evaluated tasks, sampled',
    unit: '',
    doc: 'Share of the turns on evaluated tasks that were malformed, at the training temperature.',
  },
  'eval/calls': {
    label: 'Calls on evaluated tasks',
    unit: '',
    doc: 'Calls of a tool that it answered, an episode, on evaluated tasks, greedy. Where it falls to zero the agent no longer asks.',
  },
  'eval/success_entities': {
    label: 'Held-out entities',
    unit: '',
    doc: 'Share of tasks solved that are about entities no training task is about, where the environment sets some aside, greedy.',
  },
  'eval/success_shifted': {
    label: 'Out of domain',
    unit: '',
    doc: 'Share of tasks solved that are harder than any trained on (searches over facts: one hop more; number hunt: a tool that fails one time in five; FrozenLake: gymnasium’s slippery ice; Sokoban and calculator: longer solutions; Countdown: a number more; bandit: names reversed), greedy.',
  },
  'eval/naive_rag': {
    label: 'Naive RAG',
    unit: '',
    once: true,
    doc: 'Share of evaluated tasks solved when one retrieval is put into the prompt and the agent only answers, greedy.',
  },
  'baseline/expert': {
    label: 'Expert',
    unit: '',
    once: true,
    doc: 'Share of evaluated tasks the scripted expert solves; less than 1 where luck has a say.',
  },
  'baseline/rule': {
    label: 'Simple rule',
    unit: '',
    once: true,
    doc: 'Share of evaluated tasks solved by a simple rule without search or learning, where the environment has one.',
  },
  'baseline/random': {
    label: 'Random play',
    unit: '',
    once: true,
    doc: 'Share of evaluated tasks solved by drawing each token uniformly from those the grammar mask lets through, four games each.',
  },
  'eval/em': { label: 'Exact match on evaluated tasks', unit: '', doc: 'As rollout/em, on evaluated tasks, greedy.' },
  'eval/sub_em': {
    label: 'Answer contained, on evaluated tasks',
    unit: '',
    doc: 'As rollout/sub_em, on evaluated tasks, greedy.',
  },
  'eval/f1': { label: 'Answer F1 on evaluated tasks', unit: '', doc: 'As rollout/f1, on evaluated tasks, greedy.' },
  'eval/score': { label: 'Reward on evaluated tasks', unit: '', doc: 'Mean reward on evaluated tasks, greedy.' },
  'actor/pg_loss': { label: 'Policy loss', unit: '', doc: 'The clipped surrogate, aggregated.' },
  'actor/pg_clipfrac': {
    label: 'Clip fraction',
    unit: '',
    doc: 'Share of loss tokens whose clipped branch is the larger loss. Choices of one never clip, and count, unless choiceMask is on.',
  },
  'actor/pg_clipfrac_lower': {
    label: 'Dual-clip fraction',
    unit: '',
    doc: 'Share of loss tokens with A < 0 capped by dual clip.',
  },
  'actor/kl_loss': {
    label: 'KL to reference',
    unit: 'nats',
    doc: 'The chosen estimator against the reference policy, aggregated.',
  },
  'actor/loss': {
    label: 'Total loss',
    unit: '',
    doc: 'policy − entropyCoef · entropy + klCoef · KL + valueCoef · value.',
  },
  'actor/lr': { label: 'Learning rate', unit: '', doc: 'Used in this update.' },
  'critic/score/min': { label: 'Lowest reward', unit: '', doc: 'Over the batch.' },
  'critic/score/max': { label: 'Highest reward', unit: '', doc: 'Over the batch.' },
  'critic/vf_loss': {
    label: 'Value loss',
    unit: '',
    doc: '½ of the larger of unclipped and clipped squared error, aggregated over the value mask as the policy loss is.',
  },
  'critic/vf_explained_var': {
    label: 'Value fit',
    unit: '',
    doc: '1 − Var(returns − values) / Var(returns) over the value mask.',
  },
  'critic/grad_norm': { label: 'Critic gradient norm', unit: '', doc: 'Separate critic, before clipping.' },
  'critic/advantages/mean': { label: 'Mean advantage', unit: '', doc: 'Over the advantage mask.' },
  'rollout/zero_std_groups': {
    label: 'Flat groups',
    unit: '',
    doc: 'Share of prompts whose rollouts all scored the same: they teach nothing.',
  },
  'critic/rewards/mean': {
    label: 'Reward after KL',
    unit: '',
    doc: 'Mean over rollouts of the summed reward as the estimator saw it, KL taken off.',
  },
  'actor/reward_kl_penalty': {
    label: 'KL to reference',
    unit: 'nats',
    doc: 'Mean over rollouts of the mean KL estimate (old policy to reference) over tokens that pay for it.',
  },
  'actor/reward_kl_penalty_coeff': {
    label: 'KL in reward β',
    unit: '',
    doc: 'What multiplied the KL in the reward; the adaptive controller moves it.',
  },
  'rollout/filter_kept_ratio': {
    label: 'Prompts kept',
    unit: '',
    doc: 'Share of the prompts the group filter let through.',
  },
  'rollout/repeated_actions': {
    label: 'Repeated actions',
    unit: '',
    doc: 'Share of turns that say word for word what an earlier turn of the same rollout said.',
  },
  'rollout/echo_share': {
    label: 'Same rollout',
    unit: '',
    doc: 'Share of a prompt’s rollouts that took the most common sequence of actions, mean over prompts.',
  },
  'collapse/mi_estimate': {
    label: 'Input dependence',
    unit: 'nats',
    doc: 'RAGEN-2’s mutual-information proxy between what the agent had read and the turn it then took; at most log N.',
  },
  'collapse/retrieval_accuracy': {
    label: 'Turn ↔ context',
    unit: '',
    doc: 'Share of turns likelier under the context they came from than under any other of N.',
  },
  'collapse/retrieval_chance_level': { label: 'Turn ↔ context, by chance', unit: '', doc: '1 / N.' },
  'mask/observation_weights': {
    label: 'Graded words of the tool',
    unit: 'tokens',
    doc: 'Observation tokens whose log-probability the policy loss moved: non-zero weight in the last epoch.',
  },
  'mask/observation_share': {
    label: 'Update spent on the tool’s words',
    unit: '',
    doc: 'Σ|weight| over observation tokens / Σ|weight| over all, of d(loss)/d(log-probability).',
  },
  'mask/reward_outside': {
    label: 'Reward lost to the mask',
    unit: '',
    doc: 'Σ|reward| at tokens outside the advantage mask, per rollout; it reaches no estimator.',
  },
  'mask/length_mismatch': {
    label: 'Mask length errors',
    unit: 'rollouts',
    doc: 'Rollouts whose masks reach past their last token or leave out a token of the agent’s (but for choices of one with choiceMask on): 0, or it is a bug.',
  },
  'reward/outcome': { label: 'Outcome reward', unit: '', doc: 'Per rollout.' },
  'reward/process': { label: 'Process reward', unit: '', doc: 'Per rollout.' },
  'reward/call': { label: 'Call reward', unit: '', doc: 'Per rollout.' },
  'reward/format': { label: 'Format penalty', unit: '', doc: 'Per rollout; negative.' },
  'reward/think': { label: 'Thinking reward', unit: '', doc: 'Per rollout.' },
  'reward/turnCost': { label: 'Turn cost', unit: '', doc: 'Per rollout; negative.' },
  'reward/preference': { label: 'Preference reward', unit: '', doc: 'Per rollout, centred over the batch.' },
  'reward_model/score': {
    label: 'Reward model’s score',
    unit: '',
    doc: 'Mean over rollouts of what the reward model says, before weight and centring.',
  },
  'reward_model/loss': {
    label: 'Preference loss',
    unit: 'nats',
    doc: '−mean log σ(r_better − r_worse) over the pairs of the last fit (Bradley–Terry).',
  },
  'reward_model/agreement': {
    label: 'Agreement',
    unit: '',
    doc: 'Share of held-out pairs the reward model orders as the labeller did.',
  },
  'rollout/logprob_mismatch': {
    label: 'Sampler mismatch',
    unit: 'nats',
    doc: 'Largest |sampled − recomputed| log-probability of the batch; over 1e-3 (4e-3 with f16 storage) means a bug.',
  },
  'rollout/truncation_kl': {
    label: 'KL of draws to policy',
    unit: 'nats',
    doc: 'With top-k or top-p: mean over the agent’s tokens of log q − log π, q being what was drawn from and π the policy. That is −log of the probability kept, KL(q ‖ π) at each token. Ratio, KL and entropy are π’s, so this much of the batch is off-policy.',
  },
  'rollout/invalid_turns': { label: 'Malformed turns', unit: '', doc: 'Per rollout.' },
  'rollout/truncated': { label: 'Truncated', unit: '', doc: 'Share of rollouts cut off by the token limit.' },
  'response_length/mean': { label: 'Response length', unit: 'tokens', doc: 'Agent and observation tokens.' },
  'action/ratio': { label: 'Agent share', unit: '', doc: 'Agent tokens / response tokens.' },
  'num_turns/mean': { label: 'Turns', unit: '', doc: 'Per rollout, the answer included.' },
  'rollout/waited_turns': { label: 'Turns waited', unit: '', doc: 'Per rollout, while tools answered late.' },
  'tool_call_counts/mean': { label: 'Tool calls', unit: '', doc: 'Per rollout.' },
  ...ENGINE_METRICS,
} as const satisfies Record<string, Metric>;

export type MetricName = keyof typeof METRICS;
export type Metrics = Partial<Record<MetricName, number>>;
