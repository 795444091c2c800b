import { ENVIRONMENTS } from '../config/environments.ts';
import type { RunConfig } from '../config/fields.ts';
import { METRICS, type MetricName } from './metrics.ts';

/** What an evaluation plays: tasks kept from training, all tasks where there are too few to keep any, or of several runs both. */
export type EvaluationSet = 'held-out' | 'all' | 'mixed';

/** What the evaluations of some runs play. */
export function evaluationSetOf(...runs: readonly Pick<RunConfig, 'env'>[]): EvaluationSet {
  const all = runs.filter(({ env }) => ENVIRONMENTS[env].allTasks).length;
  return all === 0 ? 'held-out' : all === runs.length ? 'all' : 'mixed';
}

/** The words for it, wherever it is spoken of. */
export const EVALUATION_WORDS: Readonly<Record<EvaluationSet, { readonly tasks: string; readonly success: string }>> = {
  'held-out': { tasks: 'held-out tasks', success: 'Held-out success' },
  all: { tasks: 'all tasks', success: 'Success on all tasks' },
  mixed: { tasks: 'evaluated tasks', success: 'Success on evaluated tasks' },
};
/**
 * Whether so many different evaluated tasks are all that there are. Nothing is sampled then, so their share has neither a sampling
 * interval nor a test over tasks: what varies is the seed of the run.
 */
export function isWholeSet(tasks: number, config: Pick<RunConfig, 'env' | 'evalTasks'>): boolean {
  return evaluationSetOf(config) === 'all' || tasks < config.evalTasks; // it asked for more and there were none
}

/** What so many evaluated tasks are, in words: “all 16 tasks”, “all 21 held-out tasks”, “256 different held-out tasks”. */
export function evaluationWords(tasks: number, kind: EvaluationSet, whole: boolean): string {
  const prefix = kind === 'held-out' ? 'held-out ' : '';
  return whole ? `all ${tasks} ${prefix}tasks` : `${tasks} different ${prefix || 'evaluated '}tasks`;
}

// Said with the number itself, once.
const TRAINED_ON = ' There are so few tasks that none is held out: the agent is evaluated on those that it trains on.';

/** Name, unit and meaning of a metric in these runs. */
export function metricWords(
  metric: MetricName,
  ...runs: readonly Pick<RunConfig, 'env'>[]
): { readonly label: string; readonly unit: string; readonly doc: string } {
  const kind = evaluationSetOf(...runs);
  const { tasks, success } = EVALUATION_WORDS[kind];
  const { label, unit, doc } = METRICS[metric];
  const worded = (text: string) =>
    text.replace('Success on evaluated tasks', success).replace('evaluated tasks', tasks);
  const more = metric === 'eval/success' && kind === 'all' ? TRAINED_ON : '';
  return { label: worded(label), unit, doc: `${worded(doc)}${more}` };
}
