import { metricNamed, type MetricName } from '../domain/metrics.ts';

/** Programs that write metrics. A log is taken to be that of the program whose names of metrics it has. */
export type LogProgram = 'Rollout Playground' | 'verl' | 'TRL' | 'Hugging Face Trainer' | 'unknown program';

interface Counterpart {
  readonly metric: MetricName;
  readonly difference?: string; // how the other program's number differs from the page's
}

const REWARD_STD =
  'in TRL 1.16 the standard deviation over all rollouts of the batch, so differences between prompts count too; older versions took it within a prompt';
const FLAT = 'with scale_rewards="batch" it is 1 only if all rewards of the batch are equal';

/**
 * TRL's and Transformers' names (trl 1.16.0, trainer/grpo_trainer.py; transformers 5.24.0, trainer.py). Of two names
 * for the same metric the first wins.
 */
const TRL_NAMES: Readonly<Record<string, Counterpart>> = {
  reward: { metric: 'critic/score/mean' },
  reward_std: { metric: 'rollout/in_group_reward_std', difference: REWARD_STD },
  frac_reward_zero_std: { metric: 'rollout/zero_std_groups', difference: FLAT },
  entropy: { metric: 'actor/entropy' },
  grad_norm: { metric: 'actor/grad_norm' },
  'completions/mean_length': { metric: 'response_length/mean' },
  completion_length: { metric: 'response_length/mean' }, // before TRL 0.16
  'completions/clipped_ratio': { metric: 'rollout/truncated' },
  'tools/call_frequency': { metric: 'tool_call_counts/mean' },
  'clip_ratio/region_mean': { metric: 'actor/pg_clipfrac' },
  kl: { metric: 'actor/kl_loss' },
  policy_loss: { metric: 'actor/pg_loss' },
  loss: { metric: 'actor/loss' },
  learning_rate: { metric: 'actor/lr' },
  eval_reward: { metric: 'eval/score', difference: 'sampled, not greedy' },
};

/** Names of verl that differ from the page's (verl 0.9.1, trainer/ppo/metric_utils.py and ray_trainer.py). */
const VERL_NAMES: readonly (readonly [RegExp, Counterpart])[] = [
  [/^response_length\/clip_ratio$/, { metric: 'rollout/truncated' }],
  [
    /^val-core\/.+\/acc\/mean@\d+$/,
    { metric: 'eval/success_sampled', difference: 'validation accuracy, of the first data source' },
  ],
  [
    /^val-core\/.+\/reward\/mean@\d+$/,
    { metric: 'eval/score', difference: 'sampled, not greedy, of the first data source' },
  ],
];

/** verl has these under the page's names, with another meaning. */
const SAME_NAME: Readonly<Partial<Record<MetricName, string>>> = {
  'num_turns/mean': 'counts messages, those of the user and the tools included',
  'actor/entropy': 'averaged as verl’s loss_agg_mode says',
};

/**
 * The page's metric that another program logs as `name`; undefined if there is none. `Trainer` writes train/ or eval/
 * before a name for wandb, trackio and TensorBoard, and the page's CSV has the name in brackets.
 */
export function counterpartOf(name: string): Counterpart | undefined {
  const bare = (/ \[([^\]]+)\]$/.exec(name)?.[1] ?? name)
    .replace(/^train\//, '')
    .replace(/^eval\/(?=reward$)/, 'eval_');
  const own = metricNamed(bare);
  if (own) return { metric: own };
  if (Object.hasOwn(TRL_NAMES, bare)) return TRL_NAMES[bare];
  return VERL_NAMES.find(([pattern]) => pattern.test(bare))?.[1];
}

/** How the number of a program differs from the page's metric; empty if it doesn't. */
export function differenceOf(program: LogProgram, counterpart: Counterpart): string {
  return counterpart.difference ?? (program === 'verl' ? (SAME_NAME[counterpart.metric] ?? '') : '');
}

/** Guesses the program that wrote metrics of these names. */
export function programOf(names: ReadonlySet<string>): LogProgram {
  const bare = Array.from(names, (name) => name.replace(/^train\//, ''));
  const has = (pattern: RegExp) => bare.some((name) => pattern.test(name));
  if (has(/(^|\[)rollout\/zero_std_groups\]?$/)) return 'Rollout Playground';
  if (has(/^(actor|critic|timing_s)\//)) return 'verl';
  if (has(/^(completions\/mean_length|completion_length|frac_reward_zero_std|reward_std)$/)) return 'TRL';
  return has(/^learning_rate$/) && has(/^epoch$/) ? 'Hugging Face Trainer' : 'unknown program';
}
