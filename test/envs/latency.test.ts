import { describe, expect, it } from 'vitest';
import { random } from '../../src/base/rng.ts';
import { expertPlay, play, subject } from './checker.ts';

const SEEDS = Array.from({ length: 1000 }, (_, i) => 3000 + i);

describe('a tool that answers late', () => {
  it('takes as many turns on average as it is set to', () => {
    const { env, settings } = subject('number-hunt', { latency: 1, maxTurns: 12, range: 64 });
    const delays = SEEDS.map((seed) => {
      const episode = env.reset(seed, settings);
      const { waited, stop } = episode.step(episode.expert(), settings);
      return stop === null ? waited : 0;
    });
    // geometric: variance 2, so three standard errors are .13; one in 64 finds the number at once
    expect(Math.abs(delays.reduce((a, b) => a + b, 0) / SEEDS.length - 1)).toBeLessThan(0.15);
    expect(delays.filter((turns) => turns === 0).length / SEEDS.length).toBeCloseTo(0.5, 1);
  });

  it('always leaves a last turn, in which a search can only answer', () => {
    const { env, settings, config } = subject('multi-hop', { latency: 4, oneHopShare: 0 });
    const { next, vocabulary } = env.grammar(true);
    const answer = env.vocabulary.indexOf('<answer>');
    let late = 0;
    for (const seed of SEEDS) {
      const episode = env.reset(seed, settings);
      const { turns } = play(episode, settings, () => episode.expert());
      const waited = turns.reduce((sum, turn) => sum + turn.waited, 0);
      expect(turns.at(-1)).toMatchObject({ stop: 'answered', waited: 0 });
      expect(turns.length + waited).toBeLessThanOrEqual(config.maxTurns);
      for (const [i, { grammarState: state, waited: now }] of turns.slice(0, -1).entries()) {
        const spent = i + 1 + turns.slice(0, i + 1).reduce((sum, turn) => sum + turn.waited, 0);
        const legal = env.vocabulary.flatMap((_, v) => (next[state * vocabulary + v]! >= 0 ? [v] : []));
        if (spent === config.maxTurns - 1) expect(legal).toEqual([answer]);
        late += now > 0 ? 1 : 0;
      }
    }
    expect(late).toBeGreaterThan(SEEDS.length / 2);
  });

  it('makes a search harder: an expert who must answer before all is found is seldom right', () => {
    const share = (latency: number) => {
      const s = subject('multi-hop', { latency, oneHopShare: 0 });
      return SEEDS.filter((seed) => expertPlay(s, seed).success).length / SEEDS.length;
    };
    expect(share(0)).toBe(1);
    // a first call that is late by two turns or more, (4/5)² of them, leaves the last one of four, and a guess among twelve
    expect(share(4)).toBeCloseTo(1 - 0.64 * (11 / 12), 1);
  });

  it('counts against the moves of a walk', () => {
    const { env, settings, config } = subject('frozen-lake', { latency: 2 });
    for (const seed of SEEDS.slice(0, 200)) {
      const episode = env.reset(seed, settings);
      const { turns } = play(episode, settings, () => episode.demonstrate(0, random(seed, 5, 81)));
      expect(turns.length + turns.reduce((sum, { waited }) => sum + waited, 0)).toBeLessThanOrEqual(config.maxTurns);
    }
  });
});
