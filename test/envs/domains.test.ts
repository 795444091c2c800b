import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import type { Episode, EnvSettings } from '../../src/envs/env.ts';
import { createEnv, envSettings } from '../../src/envs/index.ts';

const words = (env: { readonly vocabulary: readonly string[] }, ids: readonly number[]) =>
  ids.map((id) => env.vocabulary[id]);
const solve = (episode: Episode, settings: EnvSettings) => {
  for (let turns = 1; ; turns++) {
    const result = episode.step(episode.expert(), settings);
    if (result.stop !== null) return { ...result, turns };
  }
};
const graphOf = (episode: Episode) => {
  const view = episode.view();
  if (view.kind !== 'graph') throw new Error('want a graph');
  return view;
};

describe('out of the domain', () => {
  it('multi-hop asks for one hop more than it trains on, and the expert can still answer', () => {
    const config = parseConfig({ env: 'multi-hop' });
    const env = createEnv(config);
    const settings = envSettings(config);
    for (let seed = 0; seed < 40; seed++) {
      const episode = env.splits.shifted.reset(seed, settings);
      expect(graphOf(episode).gold).toHaveLength(3);
      expect(episode.prompt.length).toBeLessThanOrEqual(env.maxTokens);
      expect(solve(episode, settings)).toMatchObject({ success: true, turns: 4 });
    }
    expect(env.splits.shifted.doc).toMatch(/3 hops, one more/);
  });

  it('multi-hop says so where the turns leave no room for a hop more', () => {
    const config = parseConfig({ env: 'multi-hop', hops: 2, maxTurns: 3 });
    const env = createEnv(config);
    const episode = env.splits.shifted.reset(4, envSettings(config));
    expect(graphOf(episode).gold).toHaveLength(2);
    expect(env.splits.shifted.doc).toMatch(/2 hops: 3 turns leave no room/);
  });

  it('number hunt is the same task with a tool that fails at least one time in five', () => {
    const config = parseConfig({ env: 'number-hunt' });
    const env = createEnv(config);
    const failures = (settings: EnvSettings) => {
      const seeds = Array.from({ length: 1000 }, (_, seed) => seed);
      const failed = seeds.filter((seed) => {
        const episode = env.splits.shifted.reset(seed, settings);
        expect(episode.prompt).toEqual(env.reset(seed, settings).prompt);
        return words(env, episode.step(episode.expert(), settings).observation).includes('none');
      });
      return failed.length / seeds.length;
    };
    // standard error .013 and .016
    expect(failures(envSettings(config))).toBeCloseTo(0.2, 1);
    expect(failures({ ...envSettings(config), failureRate: 0.5 })).toBeCloseTo(0.5, 1);
    expect(env.splits.shifted.doc).toMatch(/one time in five/);
  });
});

describe('naive RAG', () => {
  const config = parseConfig({ env: 'multi-hop', oneHopShare: 0.5, distractors: 1 });
  const env = createEnv(config);
  const settings = envSettings(config);

  it('is a task held out with the first hop in its prompt, and one turn that can only answer', () => {
    for (let seed = 0; seed < 40; seed++) {
      const episode = env.naiveRag!(seed, settings);
      const plain = env.splits.heldOut!.reset(seed, settings);
      const { entities, relations, gold, answer } = graphOf(episode);
      expect(graphOf(plain).gold).toEqual(gold);
      const [first] = gold;
      const said = words(env, episode.prompt);
      expect(said.slice(0, plain.prompt.length)).toEqual(words(env, plain.prompt));
      const call = ['<call>', entities[first!.entity], relations[first!.relation], '</call>', '<obs>'];
      expect(said.slice(plain.prompt.length, plain.prompt.length + 5)).toEqual(call);
      expect(said).toHaveLength(plain.prompt.length + 5 + 6 + 1);
      expect(said.join(' ')).toContain(
        `${entities[first!.entity]} ${relations[first!.relation]} ${entities[first!.to]}`,
      );

      const { next, vocabulary } = env.grammar(true);
      const legal = env.vocabulary.filter((_, v) => next[episode.grammarState * vocabulary + v]! >= 0);
      expect(legal).toEqual(['<answer>']);
      expect(solve(episode, settings)).toMatchObject({ turns: 1, stop: 'answered', success: first!.to === answer });
      expect(episode.prompt.length + 3).toBeLessThanOrEqual(env.maxTokens);
    }
  });

  it('ends after one turn when the grammar is off too', () => {
    const free = { ...settings, grammar: false };
    const call = ['<call>', 'ada', 'boss', '</call>'].map((word) => env.vocabulary.indexOf(word));
    expect(env.naiveRag!(1, free).step(call, free)).toMatchObject({ stop: 'turns', observation: [] });
  });

  it('finds nothing when the tool fails', () => {
    const failing = { ...settings, failureRate: 0.9 };
    const ends = Array.from({ length: 50 }, (_, seed) => words(env, env.naiveRag!(seed, failing).prompt).slice(-3));
    expect(ends.filter((end) => end.join(' ') === '<obs> none </obs>').length).toBeGreaterThan(35);
  });

  it('has no place in number hunt', () => {
    expect(createEnv(parseConfig({ env: 'number-hunt' })).naiveRag).toBeUndefined();
  });
});
