import type { RunConfig } from '../config.ts';
import type { MetricName } from '../metrics.ts';
import { percent } from './format.ts';
import type { Series } from './series.ts';

/** What the two mask switches mean together, in the case at hand. */
export function maskSentence(c: Pick<RunConfig, 'lossMask' | 'advantageMask' | 'estimator'>): string {
  if (c.estimator === 'grpo') {
    return c.lossMask === 'on'
      ? 'Only what the agent wrote is graded. One score per rollout, so there is no credit to carry across the tool’s text.'
      : 'The agent is rewarded or punished for the environment’s words: each rollout’s score lands on them too.';
  }
  if (c.lossMask === 'on') {
    return c.advantageMask === 'on'
      ? 'Only what the agent wrote is graded, and credit skips over the environment.'
      : 'Credit leaks away while passing through the tool’s text.';
  }
  return c.advantageMask === 'on'
    ? 'Graded text is diluted; the KL/entropy terms now act on text the agent did not write.'
    : 'The agent is rewarded or punished for the environment’s words.';
}

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
