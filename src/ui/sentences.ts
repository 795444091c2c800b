import type { MetricName } from '../metrics.ts';
import { percent } from './format.ts';
import type { Series } from './series.ts';

/** One line on how the run goes, from rules only; null while there is nothing to say. */
export function verdict(series: ReadonlyMap<MetricName, Series>, update: number): string | null {
  const success = series.get('rollout/success');
  const [before, now] = [success?.opening, success?.smooth];
  if (before === undefined || now === undefined || (success?.length ?? 0) < 3) return null;
  const parts = [`Success ${percent(before)} → ${percent(now)} in ${update} updates`];
  const held = series.get('eval/success');
  if (held && held.length > 1) parts.push(`on held-out tasks ${percent(held.first)} → ${percent(held.latest)}`);
  return `${parts.join(', ')}. ${remark(series, now - before)}`;
}

function remark(series: ReadonlyMap<MetricName, Series>, gain: number): string {
  const spread = series.get('rollout/in_group_reward_std');
  const solved = series.get('rollout/success')?.smooth ?? 0;
  if (spread && spread.length > 10 && (spread.smooth ?? 1) < 0.1 * (spread.opening ?? 0)) {
    return solved > 0.9
      ? 'Nearly every attempt succeeds, so there is little left to compare.'
      : 'All attempts at a task now do the same thing, so there is nothing left to compare.';
  }
  if (gain > 0.1) return 'It is learning.';
  return gain < -0.1 ? 'It is getting worse: try a lower learning rate.' : 'No clear change yet.';
}
