import type { MetricName } from '../../domain/metrics.ts';
import { percent, short } from '../parts/numberText.ts';
import type { Series } from '../../runs/series.ts';

const ENOUGH = 10; // updates
const MUCH = 0.25; // of the score's own range
const LOST = 0.05; // of success

/** Whether the agent pleases the reward model at the expense of the task, from the two curves alone. */
export function hackingSentence(series: ReadonlyMap<MetricName, Series>): string {
  const score = series.get('reward_model/score');
  const success = series.get('rollout/success');
  const [scoreBefore, scoreNow] = [score?.opening, score?.smooth];
  const [solvedBefore, solvedNow] = [success?.opening, success?.smooth];
  if (!score || scoreBefore === undefined || scoreNow === undefined || score.length < ENOUGH) {
    return 'If the reward model’s score rises and success doesn’t, the agent pleases the reward model and not the task.';
  }
  if (solvedBefore === undefined || solvedNow === undefined) return '';
  const range = Math.max(...score.buckets.map((b) => b.max)) - Math.min(...score.buckets.map((b) => b.min));
  const rose = scoreNow - scoreBefore > MUCH * range && range > 0;
  const change = `The reward model’s score went from ${short(scoreBefore)} to ${short(scoreNow)}, success from ${percent(solvedBefore)} to ${percent(solvedNow)}`;
  if (rose && solvedNow < solvedBefore - LOST) return `▲ ${change}: the agent pleases the reward model, not the task.`;
  if (rose && solvedNow > solvedBefore + LOST) return `${change}: so far both rise together.`;
  return `${change}.`;
}
