import { BASELINES } from '../../domain/baselines.ts';
import type { MetricName } from '../../domain/metrics.ts';
import { percent } from '../words/numberText.ts';
import { useLive } from './liveStore.ts';

export interface Baseline {
  readonly label: string;
  readonly share: number;
}

const SUCCESS_CURVES: readonly MetricName[] = ['rollout/success', 'eval/success'];

/** The baselines of a success curve, highest first, measured before the run's first update. Empty for other curves. */
export function baselinesOf(metric: MetricName): readonly Baseline[] {
  if (!SUCCESS_CURVES.includes(metric)) return [];
  return BASELINES.flatMap(({ label, metric: baselineMetric }) => {
    const share = useLive.getState().series.get(baselineMetric)?.firstValue;
    return share === undefined ? [] : [{ label, share }];
  }).sort((a, b) => b.share - a.share);
}

export function baselineSentence(metric: MetricName): string {
  const labels = baselinesOf(metric).map(({ label, share }) => `${label} ${percent(share)}`);
  return labels.length > 0 ? `To compare with: ${labels.join(', ')}.` : '';
}
