import { BASELINES } from '../../domain/baselines.ts';
import type { MetricName } from '../../domain/metrics.ts';
import { percent } from '../parts/numberText.ts';
import { live } from '../run/liveStore.ts';

/** A level to compare a curve with. */
export interface Baseline {
  readonly label: string;
  readonly share: number;
}

const COMPARED: readonly MetricName[] = ['rollout/success', 'eval/success'];

/** What the run said before its first update of those it is measured against, highest first; none for other curves. */
export function baselinesOf(metric: MetricName): readonly Baseline[] {
  if (!COMPARED.includes(metric)) return [];
  return BASELINES.flatMap(({ label, metric: measured }) => {
    const share = live.series.get(measured)?.first;
    return share === undefined ? [] : [{ label, share }];
  }).sort((a, b) => b.share - a.share);
}

/** The baselines of a curve as a sentence; empty if there are none. */
export function baselineSentence(metric: MetricName): string {
  const labels = baselinesOf(metric).map(({ label, share }) => `${label} ${percent(share)}`);
  return labels.length > 0 ? `To compare with: ${labels.join(', ')}.` : '';
}
