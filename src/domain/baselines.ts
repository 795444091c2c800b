import type { MetricName } from './metrics.ts';

/** What a trained agent is measured against, by its success on the evaluated tasks before the first update; best expected first. */
export const BASELINES = [
  { label: 'expert', metric: 'baseline/expert', doc: 'plays as well as one can' },
  { label: 'naive RAG', metric: 'eval/naive_rag', doc: 'answers from one search put into its prompt' },
  { label: 'base tool call', metric: 'eval/success', doc: 'the agent before training' },
  { label: 'simple rule', metric: 'baseline/rule', doc: 'a few lines without a model' },
  { label: 'random', metric: 'baseline/random', doc: 'draws among the legal words' },
] as const satisfies readonly { readonly label: string; readonly metric: MetricName; readonly doc: string }[];
