import type { MetricName } from '../metrics.ts';
import type { Phase } from '../protocol.ts';
import { percent } from './format.ts';
import type { Series } from './series.ts';

/** One line on how the run goes, from rules only; null while there is nothing to say. */
export function verdict(series: ReadonlyMap<MetricName, Series>, update: number): string | null {
  const success = series.get('rollout/success');
  const [before, now] = [success?.opening, success?.smooth];
  if (before === undefined || now === undefined || (success?.length ?? 0) < 3) return null;
  const parts = [`Success ${percent(before)} → ${percent(now)} in ${update} updates`];
  const held = series.get('eval/success');
  let heldGain: number | null = null;
  if (held && held.length > 1) {
    parts.push(`on held-out tasks ${percent(held.first)} → ${percent(held.latest)}`);
    heldGain = (held.latest ?? 0) - (held.first ?? 0);
  }
  return `${parts.join(', ')}. ${remark(series, now - before, heldGain)}`;
}

function remark(series: ReadonlyMap<MetricName, Series>, gain: number, heldGain: number | null): string {
  const spread = series.get('rollout/in_group_reward_std');
  const solved = series.get('rollout/success')?.smooth ?? 0;
  if (spread && spread.length > 10 && (spread.smooth ?? 1) < 0.1 * (spread.opening ?? 0)) {
    return solved > 0.9
      ? 'Nearly every attempt succeeds, so there is little left to compare.'
      : 'All attempts at a task now do the same thing, so there is nothing left to compare.';
  }
  if (gain > 0.1) {
    if (heldGain === null || heldGain > 0) return 'It is learning.';
    return heldGain < -0.1
      ? 'It gets better at the tasks it trains on and worse at those it does not see.'
      : 'It gets better at the tasks it trains on; held-out tasks do not show it yet.';
  }
  return gain < -0.1 ? 'It is getting worse: try a lower learning rate.' : 'No clear change yet.';
}

interface Waited {
  readonly starting: boolean;
  readonly phase: Phase;
  readonly update: number; // done so far
  readonly done: number; // parts of the phase
  readonly total: number;
  readonly rollouts: number; // of a batch
}

/** What a run is at before there is anything to judge. */
export function waitingWords({ starting, phase, update, done, total, rollouts }: Waited): string {
  const amount = total > 1 ? ` ${done}/${total}` : '';
  switch (phase) {
    case 'compiling':
      return `Compiling shaders${amount} …`;
    case 'warm-start':
      return `Warm start: imitating demonstrations${amount} …`;
    case 'evaluating':
      return update === 0 ? 'Solving held-out tasks, to compare with later …' : 'Solving held-out tasks …';
    case 'sampling':
      return `Update ${update + 1}: sampling ${rollouts} rollouts …`;
    case 'scoring':
      return `Update ${update + 1}: scoring every token …`;
    case 'crediting':
      return `Update ${update + 1}: crediting tokens …`;
    case 'reporting':
      return `Update ${update + 1}: reading numbers back …`;
    case 'updating':
      return `Update ${update + 1}: learning, step ${done + 1}/${total} …`;
    case 'idle':
      return starting ? 'Starting the engine …' : 'The verdict comes after a few updates.';
  }
}
