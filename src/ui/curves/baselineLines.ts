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
  const told = baselinesOf(metric).map(({ label, share }) => `${label} ${percent(share)}`);
  return told.length > 0 ? `To compare with: ${told.join(', ')}.` : '';
}

/**
 * Where the labels of horizontal lines go, in pixels from above, given the lines' own heights in ascending order: each sits on
 * its line where it can, `gap` or more from the next and within `top` … `bottom`, as long as there is room for all.
 */
export function labelHeights(lines: readonly number[], gap: number, top: number, bottom: number): readonly number[] {
  const heights: number[] = [];
  for (const line of lines) heights.push(Math.max(line, top, (heights.at(-1) ?? -Infinity) + gap));
  for (let i = heights.length - 1, limit = bottom; i >= 0; i--, limit -= gap) {
    heights[i] = Math.min(heights[i] ?? limit, limit);
  }
  return heights;
}
