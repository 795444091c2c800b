import { expect, test } from 'vitest';
import type { EpisodeView } from '../../src/domain/episode.ts';
import { answerMetrics } from '../../src/rl/answerMetrics.ts';

const scored = (scores: EpisodeView['scores']) => ({ scores }) as EpisodeView;

test('answers in text are scored by their means over those that have a score, under the name of who gave them', () => {
  const episodes = [
    scored({ exact: 1, contains: 1, f1: 1 }),
    scored({ exact: 0, contains: 1, f1: 0.5 }),
    scored({ exact: 0, contains: 0, f1: 0.25 }),
    scored({ exact: 0, contains: 0, f1: 0.25 }),
    scored(null),
  ];
  expect(answerMetrics(episodes, 'eval')).toEqual({ 'eval/em': 0.25, 'eval/sub_em': 0.5, 'eval/f1': 0.5 });
  expect(Object.keys(answerMetrics(episodes, 'rollout'))).toEqual(['rollout/em', 'rollout/sub_em', 'rollout/f1']);
  expect(answerMetrics([scored(null)], 'eval')).toEqual({});
});
