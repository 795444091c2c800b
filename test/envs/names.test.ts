import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { beginEpisode, type Task } from '../../src/envs/episodeRules.ts';
import { tagCodec } from '../../src/envs/turnCodec.ts';
import { createEnv, envSettings } from '../../src/envs/index.ts';
import { buildVocabulary } from '../../src/envs/vocab.ts';
import { rollout } from '../../src/rl/rollout.ts';
import { trainSampling } from '../../src/rl/settings.ts';
import { fakePolicy } from '../rl/fakePolicy.ts';

const config = parseConfig({ env: 'multi-hop' });
const settings = envSettings(config);

describe('names bound per episode', () => {
  const words = buildVocabulary(['e0', 'e1']);
  const task: Task = {
    key: 'one',
    prompt: ['<bos>', 'e1'],
    question: 'Where is Peru?',
    call: () => null,
    answer: () => null,
    neededWords: () => [],
    expert: () => [],
    demonstrate: () => [],
    view: () => ({ kind: 'number-line', range: 2, target: 0, guesses: [] }),
  };
  const rules = { turnCodec: tagCodec(words, false), maxTurns: 1, think: false, grammarStateOf: () => 0 };

  it('are told by token id', () => {
    const { names } = beginEpisode({ ...task, names: new Map([['e1', 'Peru']]) }, rules, 3, settings);
    expect([...names]).toEqual([[words.id('e1'), 'Peru']]);
  });

  it('are none where the task has none', () => {
    expect(beginEpisode(task, rules, 3, settings).names.size).toBe(0);
  });

  it('cannot be given to a word that is not in the vocabulary', () => {
    expect(() => beginEpisode({ ...task, names: new Map([['e7', 'Peru']]) }, rules, 3, settings)).toThrow(/e7/);
  });

  it('go with each rollout to the page, and survive the way from the worker', async () => {
    const plain = createEnv(config);
    const env = {
      ...plain,
      reset: (seed: number, now: typeof settings) => ({
        ...plain.reset(seed, now),
        names: new Map([[20, `task ${seed}`]]),
      }),
    };
    const request = {
      tasks: [4, 9].map((seed) => ({ seed, environmentSeed: 0 })),
      groups: Int32Array.of(0, 1),
      settings,
      sampling: trainSampling(config, 1),
      chunk: 8,
    };
    const policy = fakePolicy(2, env.maxTokens, env.vocabulary.length);
    const { episodes } = await rollout(policy, env, request, () => Promise.resolve());
    expect(structuredClone(episodes).map(({ names }) => names.get(20))).toEqual(['task 4', 'task 9']);
  });
});
