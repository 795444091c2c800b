import type { Metrics } from '../domain/metrics.ts';
import type { EpisodeView } from '../domain/episode.ts';

/** Means over the episodes; empty if answers are not text. */
export function answerMetrics(episodes: readonly EpisodeView[], of: 'rollout' | 'eval'): Metrics {
  const scored = episodes.flatMap(({ scores }) => scores ?? []);
  if (scored.length === 0) return {};
  const mean = (score: 'exact' | 'contains' | 'f1') => scored.reduce((sum, s) => sum + s[score], 0) / scored.length;
  return { [`${of}/em`]: mean('exact'), [`${of}/sub_em`]: mean('contains'), [`${of}/f1`]: mean('f1') };
}
