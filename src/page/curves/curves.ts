import { METRICS, type MetricName } from '../../domain/metrics.ts';

const METRIC_NAMES = (Object.keys(METRICS) as MetricName[]).filter((name) => !('once' in METRICS[name]));

/** Charts with two lines. The second line is dashed; both are shares. */
export const CHART_LINES: Partial<Record<MetricName, readonly [MetricName, MetricName]>> = {
  'rollout/success': ['rollout/success', 'eval/success'],
  'collapse/retrieval_accuracy': ['collapse/retrieval_accuracy', 'collapse/retrieval_chance_level'],
};
const SECOND_LINES: readonly (MetricName | undefined)[] = Object.values(CHART_LINES).map(([, second]) => second);
const HEADLINE_METRICS = METRIC_NAMES.filter((name) => 'headline' in METRICS[name]);

const startingWith = (...prefixes: readonly string[]) =>
  METRIC_NAMES.filter((name) => prefixes.some((prefix) => name.startsWith(prefix)));

export const CURVE_SETS = {
  overview: { label: 'Overview', names: HEADLINE_METRICS },
  health: {
    label: 'Health',
    names: [
      'rollout/in_group_reward_std',
      'rollout/zero_std_groups',
      'rollout/echo_share',
      'rollout/repeated_actions',
      'collapse/mi_seq_estimate',
      'collapse/retrieval_accuracy',
    ],
  },
  rewards: {
    label: 'Rewards',
    names: ['critic/score/mean', ...startingWith('reward/', 'reward_model/'), 'critic/rewards/mean'],
  },
  masks: {
    label: 'Masks',
    names: [...startingWith('mask/'), 'actor/observation_loss', 'action/ratio', 'rollout/filter_kept_ratio'],
  },
  evaluation: { label: 'Evaluation', names: startingWith('eval/') },
  all: {
    label: 'Every metric',
    names: [...HEADLINE_METRICS, ...METRIC_NAMES.filter((name) => !HEADLINE_METRICS.includes(name))],
  },
} as const satisfies Record<string, { readonly label: string; readonly names: readonly MetricName[] }>;
export type CurveSet = keyof typeof CURVE_SETS;

/** The metrics of a set that have a chart. Except in the evaluation set, a chart's second line has no chart of its own. */
export function metricsOf(set: CurveSet): readonly MetricName[] {
  const names: readonly MetricName[] = CURVE_SETS[set].names;
  return set === 'evaluation' ? names : names.filter((name) => !SECOND_LINES.includes(name));
}
