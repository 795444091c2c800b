import type { MetricName } from '../../domain/metrics.ts';
import { percent, short } from '../parts/numberText.ts';
import type { Series } from '../../runs/series.ts';

const SHARES: readonly MetricName[] = [
  'rollout/success',
  'collapse/retrieval_accuracy',
  'collapse/retrieval_chance_level',
];

/** Whether a metric is a share, and is written as a percentage wherever it stands. */
function isShare(metric: MetricName): boolean {
  return SHARES.includes(metric) || metric.startsWith('eval/success');
}

/**
 * The one number that stands for a metric now, wherever it is told: the end of the drawn curve, which is smoothed; of what is
 * measured seldom, and is drawn as it is, the latest.
 */
export function shownValue(
  metric: MetricName,
  series: Pick<Series, 'smooth' | 'latest'> | undefined,
): number | undefined {
  return metric.startsWith('eval/') ? series?.latest : series?.smooth;
}

/** A metric's number in its one rounding. */
export function shownText(metric: MetricName, value: number | undefined): string {
  return isShare(metric) ? percent(value) : short(value);
}
