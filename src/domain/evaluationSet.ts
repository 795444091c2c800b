import { ENVIRONMENTS, YOUR_ENVIRONMENT } from '../config/environments.ts';
import type { RunConfig } from '../config/fields.ts';
import { visible } from '../base/visible.ts';
import { type CurveName, METRICS, metricNamed } from './metrics.ts';

/**
 * The tasks of an evaluation: held-out tasks, or all tasks if there are too few to hold any out. `test`: the test tasks
 * of a person's class, some of which may also occur in training. `mixed`: several runs that differ in this.
 */
export type EvaluationSet = 'held-out' | 'all' | 'test' | 'mixed';

export function evaluationSetOf(...runs: readonly Pick<RunConfig, 'env'>[]): EvaluationSet {
  const [kind = 'held-out', ...others] = new Set(
    runs.map(({ env }) =>
      env === YOUR_ENVIRONMENT ? 'test' : ENVIRONMENTS[env].countIfAllPlayed ? 'all' : 'held-out',
    ),
  );
  return others.length > 0 ? 'mixed' : kind;
}

/** The words that the page uses for each kind of evaluation. */
export const EVALUATION_WORDS: Readonly<Record<EvaluationSet, { readonly tasks: string; readonly success: string }>> = {
  'held-out': { tasks: 'held-out tasks', success: 'Held-out success' },
  all: { tasks: 'all tasks', success: 'Success on all tasks' },
  test: { tasks: 'test tasks', success: 'Success on test tasks' },
  mixed: { tasks: 'evaluated tasks', success: 'Success on evaluated tasks' },
};

/**
 * Whether an evaluation with `tasks` different tasks played all tasks that exist. Then the tasks are not a sample, so
 * the success rate has no sampling interval and needs no test over tasks; only the seed of the run varies. `reported` is
 * the run's `eval/all_tasks`; older runs have none.
 */
export function isWholeSet(
  tasks: number,
  config: Pick<RunConfig, 'env' | 'evalTasks'>,
  reported: number | undefined,
): boolean {
  if (evaluationSetOf(config) === 'all') return true;
  return reported === undefined ? tasks < config.evalTasks : reported === 1; // fewer exist than were requested
}

/** Describes a number of evaluated tasks: “all 16 tasks”, “all 21 held-out tasks”, “256 different held-out tasks”. */
export function evaluationWords(tasks: number, kind: EvaluationSet, whole: boolean): string {
  const prefix = kind === 'held-out' || kind === 'test' ? `${kind} ` : '';
  if (whole) return `all ${tasks} ${prefix}tasks`;
  // test tasks differ from each other, but “different” would be read as different from training tasks
  return `${tasks} ${kind === 'test' ? '' : 'different '}${prefix || 'evaluated '}tasks`;
}

// added to the text of eval/success only
const TRAINED_ON: Readonly<Partial<Record<EvaluationSet, string>>> = {
  all: ' There are so few tasks that the agent is evaluated on the same ones that it trains on.',
  test: ' The check of the file says how many of them also occur in training.',
};

/** The label, unit and meaning of a metric for these runs. */
export function metricWords(
  metric: CurveName,
  ...runs: readonly Pick<RunConfig, 'env'>[]
): { readonly label: string; readonly unit: string; readonly doc: string } {
  const name = metricNamed(metric);
  if (!name) return { label: visible(metric, 60), unit: '', doc: 'A metric that the page has no name for.' };
  const kind = evaluationSetOf(...runs);
  const { tasks, success } = EVALUATION_WORDS[kind];
  const { label, unit, doc } = METRICS[name];
  const worded = (text: string) =>
    text.replace('Success on evaluated tasks', success).replace('evaluated tasks', tasks);
  const more = metric === 'eval/success' ? (TRAINED_ON[kind] ?? '') : '';
  return { label: worded(label), unit, doc: `${worded(doc)}${more}` };
}
