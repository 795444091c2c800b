import type { MetricName } from './metrics.ts';

/** What a trained agent is measured against, by its success on the evaluated tasks before the first update; best expected first. */
export const BASELINES = [
  { label: 'expert', metric: 'baseline/expert' },
  { label: 'naive RAG', metric: 'eval/naive_rag' },
  { label: 'base tool call', metric: 'eval/success' }, // the weights the run begins with
  { label: 'simple rule', metric: 'baseline/rule' },
  { label: 'random', metric: 'baseline/random' },
] as const satisfies readonly { readonly label: string; readonly metric: MetricName }[];
