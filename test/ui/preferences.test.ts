import { expect, test } from 'vitest';
import type { MetricName } from '../../src/domain/metrics.ts';
import { Role } from '../../src/domain/tokens.ts';
import { example } from './example.ts';
import { hackingSentence } from '../../src/ui/run/Preferences.tsx';
import { rolloutTokensOf, pairOf } from '../../src/page/rollout/pairs.ts';
import { partsOfEpisode, partsOfToken } from '../../src/page/rollout/rewardParts.ts';
import { Series } from '../../src/runs/series.ts';

test('an attempt is the row’s own ids and roles, cut at its length', () => {
  for (let row = 0; row < example.rows; row++) {
    const { tokens, roles } = rolloutTokensOf(example, row);
    const from = row * example.length;
    expect(tokens).toHaveLength(example.lengths[row] ?? -1);
    expect(roles).toHaveLength(tokens.length);
    expect([...tokens]).toEqual([...example.tokens.subarray(from, from + tokens.length)]);
    expect(roles).not.toContain(Role.pad);
  }
});

test('an attempt is a copy: sending it away leaves the batch whole', () => {
  expect(rolloutTokensOf(example, 0).tokens.buffer).not.toBe(example.tokens.buffer);
});

test('a pair is two different rollouts of one prompt, and all come up in time', () => {
  const seen = new Set<number>();
  for (let n = 0; n < 60; n++) {
    const pair = pairOf(example, n);
    if (!pair) throw new Error('the example has different rollouts');
    expect(pair.a.group).toBe(pair.b.group);
    expect([...rolloutTokensOf(example, pair.a.row).tokens]).not.toEqual([
      ...rolloutTokensOf(example, pair.b.row).tokens,
    ]);
    seen.add(pair.a.row).add(pair.b.row);
  }
  expect(seen.size).toBe(example.rows);
});

test('where every prompt’s rollouts are the same there is no pair', () => {
  const first = example.episodes[0];
  if (!first) throw new Error('the example has episodes');
  expect(pairOf({ ...example, episodes: [first, { ...first }] }, 0)).toBeNull();
});

function curve(values: readonly number[]): Series {
  const series = new Series();
  values.forEach((y, x) => series.push(x, y));
  return series;
}
const ramp = (from: number, to: number) => Array.from({ length: 40 }, (_, i) => from + ((to - from) * i) / 39);

test.each([
  [ramp(0, 2), ramp(0.6, 0.2), 'pleases the reward model, not the task'],
  [ramp(0, 2), ramp(0.2, 0.6), 'both rise together'],
  [ramp(2, 0), ramp(0.6, 0.2), 'went from'],
])('score and success are told apart', (score, success, words) => {
  const series = new Map<MetricName, Series>([
    ['reward_model/score', curve(score)],
    ['rollout/success', curve(success)],
  ]);
  expect(hackingSentence(series)).toContain(words);
});

test('the parts of a rollout’s reward add up to it, and the parts of its tokens to them', () => {
  for (const episode of example.episodes) {
    expect(partsOfEpisode(episode).reduce((sum, { amount }) => sum + amount, 0)).toBeCloseTo(episode.reward, 6);
    let paid = 0;
    for (let t = 0; t < example.length; t++) {
      for (const { amount } of partsOfToken(example, episode.row * example.length + t)) paid += amount;
    }
    expect(paid).toBeCloseTo(episode.reward, 6);
  }
});
