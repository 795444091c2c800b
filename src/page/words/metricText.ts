import type { CurveName } from '../../domain/metrics.ts';
import { percent, shortNumber } from './numberText.ts';
import type { Series } from '../../runs/series.ts';

const SHARES: readonly CurveName[] = [
  'rollout/success',
  'collapse/retrieval_accuracy',
  'collapse/retrieval_chance_level',
];

/** Whether a metric is a share, which is always written as a percentage. */
function isShare(metric: CurveName): boolean {
  return SHARES.includes(metric) || metric.startsWith('eval/success');
}

/**
 * The current value of a metric, the same wherever it is shown: the end of the drawn curve, which is smoothed.
 * Evaluation metrics are measured rarely and drawn unsmoothed, so their value is the latest one.
 */
export function shownValue(
  metric: CurveName,
  series: Pick<Series, 'lastSmoothed' | 'lastValue'> | undefined,
): number | undefined {
  return metric.startsWith('eval/') ? series?.lastValue : series?.lastSmoothed;
}

export function shownText(metric: CurveName, value: number | undefined): string {
  return isShare(metric) ? percent(value) : shortNumber(value);
}
