import type { MetricName } from './metrics.ts';

/** Each is a metric that is measured before the first update. Sorted by expected success, best first. */
export const BASELINES = [
  {
    label: 'expert',
    metric: 'baseline/expert',
    doc: 'a scripted player that plays as well as possible; it stays below 100 % where a task also needs luck',
  },
  {
    label: 'naive RAG',
    metric: 'eval/naive_rag',
    doc: 'the result of one search is put into the prompt, and the agent answers without its tool',
  },
  { label: 'before RL', metric: 'eval/success', doc: 'the same agent at update 0' },
  { label: 'simple rule', metric: 'baseline/rule', doc: 'a few lines of code, without a model' },
  { label: 'random', metric: 'baseline/random', doc: 'draws among the legal words' },
] as const satisfies readonly { readonly label: string; readonly metric: MetricName; readonly doc: string }[];
