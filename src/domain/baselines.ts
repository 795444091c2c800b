import type { MetricName } from './metrics.ts';

/** The baselines that a trained agent is compared with, each by a metric that is measured before the first update. Sorted by expected success, best first. */
export const BASELINES = [
  {
    label: 'expert',
    metric: 'baseline/expert',
    doc: 'a scripted player that plays as well as possible; some tasks need luck, which it can’t have either',
  },
  {
    label: 'naive RAG',
    metric: 'eval/naive_rag',
    doc: 'the agent finds the result of one search in its prompt and must answer from that',
  },
  { label: 'before training', metric: 'eval/success', doc: 'the same agent at update 0' },
  { label: 'simple rule', metric: 'baseline/rule', doc: 'a few lines of code, without a model' },
  { label: 'random', metric: 'baseline/random', doc: 'draws among the legal words' },
] as const satisfies readonly { readonly label: string; readonly metric: MetricName; readonly doc: string }[];
