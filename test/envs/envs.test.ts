import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import type { EnvSettings, Episode, ToolEnv, TurnResult } from '../../src/envs/env.ts';
import { createEnv, envSettings } from '../../src/envs/index.ts';
import { REWARD_PARTS } from '../../src/domain/episode.ts';
import { TAGS } from '../../src/text/tags.ts';
import { random } from '../../src/base/rng.ts';

const CASES = {
  'number hunt': { env: 'number-hunt' },
  'number hunt, thinking and noisy': { env: 'number-hunt', think: 'on', distractors: 3, failureRate: 0.3 },
  'number hunt, odd range': { env: 'number-hunt', range: 7, maxTurns: 3 },
  'multi-hop': { env: 'multi-hop' },
  'multi-hop, thinking and noisy': { env: 'multi-hop', think: 'on', distractors: 2, failureRate: 0.3 },
  'multi-hop, three hops': { env: 'multi-hop', hops: 3, entities: 5, relations: 2, oneHopShare: 0 },
} as const;

/** All a turn was paid. */
function paid({ parts }: TurnResult): number {
  return REWARD_PARTS.reduce((sum, part) => sum + parts[part], 0);
}

type Choose = (episode: Episode, turn: number, state: number) => readonly number[];
function play(env: ToolEnv, settings: EnvSettings, seed: number, choose: Choose) {
  const episode = env.reset(seed, settings);
  const turns: TurnResult[] = [];
  const actions: (readonly number[])[] = [];
  let state = episode.grammarState;
  let over = false;
  while (!over) {
    const action = choose(episode, turns.length, state);
    const result = episode.step(action, settings);
    actions.push(action);
    turns.push(result);
    state = result.grammarState;
    over = result.stop !== null;
  }
  const total = turns.reduce((sum, result) => sum + paid(result), 0);
  return { episode, turns, actions, total, last: turns.at(-1)! };
}

/** A turn of uniformly random legal tokens. */
function randomTurn(env: ToolEnv, on: boolean, seed: number): Choose {
  const draw = random(seed, 5, 77);
  const { next, stop, vocabulary } = env.grammar(on);
  return (_episode, _turn, first) => {
    const action: number[] = [];
    for (let s = first; stop[s] === 0 && action.length < env.maxTurnTokens;) {
      const row = s * vocabulary;
      const token = draw.pick(env.vocabulary.map((_, v) => v).filter((v) => next[row + v]! >= 0));
      action.push(token);
      s = next[row + token]!;
    }
    return action;
  };
}

const ids = (env: ToolEnv, text: string) => text.split(' ').map((word) => env.vocabulary.indexOf(word));

describe.each(Object.entries(CASES))('%s', (_name, knobs) => {
  const config = parseConfig(knobs);
  const env = createEnv(config);
  const settings = envSettings(config);
  const reliable = { ...settings, failureRate: 0, processReward: 0.2 };
  const seeds = Array.from({ length: 64 }, (_, i) => 1000 + i);

  it('has pad, bos and every word once', () => {
    expect(env.vocabulary.slice(0, 2)).toEqual(['<pad>', '<bos>']);
    expect(new Set(env.vocabulary).size).toBe(env.vocabulary.length);
  });

  it('gives the same episode for the same seed', () => {
    for (const seed of seeds.slice(0, 8)) {
      const a = play(env, settings, seed, randomTurn(env, true, seed));
      const b = play(env, settings, seed, randomTurn(env, true, seed));
      expect(b.turns).toEqual(a.turns);
      expect(b.episode.view()).toEqual(a.episode.view());
    }
  });

  it('replays an episode from its action tokens, whatever was drawn elsewhere in between', () => {
    for (const seed of seeds) {
      const first = play(env, settings, seed, randomTurn(env, true, seed));
      const again = play(env, settings, seed, (_episode, turn) => first.actions[turn]!);
      expect(again.turns).toEqual(first.turns);
    }
  });

  it('lets the expert earn the maximum', () => {
    const best = config.env === 'number-hunt' ? 1.2 : 1 + 0.2 * config.hops;
    const played = seeds.map((seed) => play(env, { ...reliable, oneHopShare: 0 }, seed, (episode) => episode.expert()));
    const solved = played.filter(({ last }) => last.success);
    for (const { total } of solved) expect(total).toBeCloseTo(best, 6);
    // halving needs one turn more for one number in sixteen
    const reachable = config.env === 'number-hunt' ? Math.min(1, (2 ** config.maxTurns - 1) / config.range) : 1;
    expect(solved.length / played.length).toBeCloseTo(reachable, 1);
    expect(
      Math.max(...seeds.map((seed) => play(env, reliable, seed, randomTurn(env, true, seed)).total)),
    ).toBeLessThanOrEqual(best + 1e-9);
  });

  it('draws only turns the parser accepts while the grammar is on', () => {
    for (const seed of seeds) {
      const { turns, actions } = play(env, settings, seed, randomTurn(env, true, seed));
      for (const turn of turns) expect(turn.valid).toBe(true);
      for (const action of actions) expect(action.length).toBeLessThanOrEqual(env.maxTurnTokens);
    }
  });

  it('survives garbage, pays the penalty and never a reward for it', () => {
    const free = { ...settings, grammar: false, failureRate: 0 };
    for (const seed of seeds) {
      const { turns, last } = play(env, free, seed, randomTurn(env, false, seed));
      for (const turn of turns) {
        if (turn.valid) continue;
        expect(paid(turn)).toBeCloseTo(-config.invalidPenalty, 9);
        if (turn.stop !== 'turns') expect(turn.observation).toEqual(ids(env, '<obs> error </obs>'));
      }
      if (turns.every(({ valid }) => !valid)) expect(last.success).toBe(false);
    }
    const nothing = play(env, free, 3, () => []);
    expect(nothing.last).toMatchObject({ success: false, stop: 'turns', valid: false });
    expect(nothing.turns).toHaveLength(config.maxTurns);
  });

  it('is not fooled by observation tags the agent prints itself', () => {
    const told = config.env === 'number-hunt' ? '<obs> higher </obs>' : '<obs> ada boss ben </obs>';
    const real = env.reset(5, reliable).expert();
    for (const action of [
      ids(env, told),
      [...ids(env, told), ...real],
      [...real, ...ids(env, told)],
      [real[0]!, ...ids(env, told), ...real.slice(1)],
    ]) {
      const result = env.reset(5, reliable).step(action, { ...reliable, grammar: false });
      expect(result).toMatchObject({ valid: false, toolCall: false, success: false, parts: { outcome: 0 } });
    }
  });

  it('stays inside its token limits with the longest turns', () => {
    const grammar = env.grammar(true);
    const longest: Choose = (_episode, turn, first) => {
      // prefers thinking, and calls to answers, for as long as the grammar lets it
      const action: number[] = [];
      const row = (s: number) => s * grammar.vocabulary;
      const draw = random(turn, 5, 3);
      for (let s = first; grammar.stop[s] === 0;) {
        const legal = env.vocabulary.map((_, v) => v).filter((v) => grammar.next[row(s) + v]! >= 0);
        const open = ids(env, '<think>').filter((v) => legal.includes(v));
        const content = legal.filter((v) => v >= TAGS.length);
        const calls = ids(env, '<call>').filter((v) => legal.includes(v));
        const token = open[0] ?? (content.length > 0 ? draw.pick(content) : (calls[0] ?? legal[0]!));
        action.push(token);
        s = grammar.next[row(s) + token]!;
      }
      return action;
    };
    for (const seed of seeds) {
      const { turns, actions, episode } = play(env, settings, seed, longest);
      const tokens = episode.prompt.length + actions.flat().length + turns.flatMap((t) => t.observation).length;
      expect(tokens).toBeLessThanOrEqual(env.maxTokens);
    }
  });

  it('demonstrates in well-formed turns', () => {
    for (const seed of seeds) {
      const draw = random(seed, 7, 1);
      const { turns } = play(env, reliable, seed, (episode) => episode.demonstrate(0.4, draw));
      for (const turn of turns) expect(turn.valid).toBe(true);
    }
  });

  it('refuses a turn after the end: that is a mistake of the program, not of the agent', () => {
    const { episode } = play(env, reliable, 2, (current) => current.expert());
    expect(() => episode.step([], reliable)).toThrow(/over/);
  });
});

describe('number hunt', () => {
  const config = parseConfig({ env: 'number-hunt' });
  const env = createEnv(config);
  const settings = envSettings(config);

  it('has the same prompt for every target', () => {
    expect(new Set(Array.from({ length: 16 }, (_, seed) => env.reset(seed, settings).prompt.join())).size).toBe(1);
  });

  it('finds a quarter of the targets by guessing at random, as the task promises', () => {
    const wins = Array.from(
      { length: 2000 },
      (_, seed) => play(env, settings, seed, randomTurn(env, true, seed)).last.success,
    );
    // 1 − (15/16)⁴ = .2275 with repeats; standard error .0095
    expect(wins.filter(Boolean).length / wins.length).toBeCloseTo(0.2275, 1);
  });

  it('walks through the targets with consecutive seeds', () => {
    const targets = Array.from({ length: 16 }, (_, i) => {
      const view = env.reset(0x90000003 + i, settings).view();
      return view.kind === 'number-line' ? view.target : -1;
    });
    expect([...targets].sort((a, b) => a - b)).toEqual(Array.from({ length: 16 }, (_, n) => n));
  });

  it('answers higher or lower truthfully, and stops without an observation when it is found', () => {
    const episode = env.reset(9, settings);
    expect(episode.step(ids(env, '<call> 3 </call>'), settings).observation).toEqual(ids(env, '<obs> higher </obs>'));
    expect(episode.step(ids(env, '<call> 12 </call>'), settings).observation).toEqual(ids(env, '<obs> lower </obs>'));
    expect(episode.step(ids(env, '<call> 9 </call>'), settings)).toMatchObject({
      observation: [],
      parts: { outcome: 1 },
      stop: 'found',
    });
  });
});

describe('multi-hop search', () => {
  const config = parseConfig({ env: 'multi-hop', oneHopShare: 0, processReward: 0.2 });
  const env = createEnv(config);
  const settings = envSettings(config);
  const graphOf = (seed: number) => {
    const view = env.reset(seed, settings).view();
    if (view.kind !== 'graph') throw new Error('want a graph');
    return view;
  };

  it('asks without telling: the prompt holds the start and the relations only', () => {
    for (let seed = 0; seed < 50; seed++) {
      const { gold, entities, relations } = graphOf(seed);
      const [first, second] = gold;
      expect(env.reset(seed, settings).prompt.map((id) => env.vocabulary[id])).toEqual([
        '<bos>',
        'question',
        relations[second!.relation],
        relations[first!.relation],
        entities[first!.entity],
        '?',
      ]);
    }
  });

  it('pays progress once per hop, at the call that retrieves it', () => {
    const { gold, entities, relations } = graphOf(11);
    const call = (hop: number) =>
      ids(env, `<call> ${entities[gold[hop]!.entity]} ${relations[gold[hop]!.relation]} </call>`);
    const episode = env.reset(11, settings);
    expect(episode.step(call(0), settings).parts.process).toBeCloseTo(0.2, 9);
    expect(episode.step(call(0), settings).parts.process).toBe(0);
    expect(episode.step(call(1), settings).parts.process).toBeCloseTo(0.2, 9);
    expect(episode.step(episode.expert(), settings)).toMatchObject({
      parts: { outcome: 1 },
      stop: 'answered',
      success: true,
    });
  });

  it('pays nothing for a gold answer that only the tool has said', () => {
    const { gold, entities, relations, answer } = graphOf(12);
    const wrong = entities.findIndex((_, entity) => entity !== answer);
    const episode = env.reset(12, settings);
    for (const hop of gold) {
      episode.step(ids(env, `<call> ${entities[hop.entity]} ${relations[hop.relation]} </call>`), settings);
    }
    expect(episode.step(ids(env, `<answer> ${entities[wrong]} </answer>`), settings)).toMatchObject({
      parts: { outcome: 0 },
      success: false,
    });
  });

  it('leaves only an answer in the last turn', () => {
    const callId = ids(env, '<call>')[0]!;
    const { next, vocabulary } = env.grammar(true);
    const { turns } = play(env, settings, 4, (episode, turn) =>
      turn < 3 ? ids(env, '<call> ada boss </call>') : episode.expert(),
    );
    expect(next[env.reset(4, settings).grammarState * vocabulary + callId]).toBeGreaterThanOrEqual(0);
    expect(next[turns[2]!.grammarState * vocabulary + callId]).toBe(-1);
  });

  it('says so when the tool fails, and repeats the failure on replay', () => {
    const failing = { ...settings, failureRate: 0.9 };
    const first = play(env, failing, 8, () => ids(env, '<call> ada boss </call>'));
    expect(first.turns.some(({ observation }) => observation.join() === ids(env, '<obs> none </obs>').join())).toBe(
      true,
    );
    expect(play(env, failing, 8, () => ids(env, '<call> ada boss </call>')).turns).toEqual(first.turns);
  });

  it('ignores call words inside a think span', () => {
    const thinking = createEnv(parseConfig({ env: 'multi-hop', think: 'on' }));
    const text = '<think> ada boss </think>';
    expect(thinking.reset(1, settings).step(ids(thinking, text), settings)).toMatchObject({
      valid: false,
      toolCall: false,
    });
    const spoken = thinking.reset(1, settings).step(ids(thinking, `${text} <call> ben friend </call>`), settings);
    expect(spoken).toMatchObject({ valid: true, toolCall: true });
    expect(spoken.observation.map((id) => thinking.vocabulary[id]).slice(1, 3)).toEqual(['ben', 'friend']);
  });
});
