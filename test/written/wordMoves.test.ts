import { beforeAll, describe, expect, test } from 'vitest';
import { Purpose, random } from '../../src/base/rng.ts';
import { parseConfig } from '../../src/config/config.ts';
import { Role } from '../../src/domain/tokens.ts';
import type { Episode, ToolEnv } from '../../src/envs/env.ts';
import { envSettings } from '../../src/envs/index.ts';
import { demonstrator, expertPlayer, playToEnd } from '../../src/envs/players.ts';
import { openEpisode } from '../../src/envs/stepper.ts';
import { readDeclaration } from '../../src/written/script/declaration.ts';
import { textWords, valueWords, wordsValue } from '../../src/written/valueWords.ts';
import { writtenEnvironment } from '../../src/written/writtenEnvironment.ts';
import { acting, sandboxOf } from './machine.ts';
import { NUMBERS } from './numbers.ts';

const inWords = async (source: string, think = false) =>
  writtenEnvironment(readDeclaration(source), await sandboxOf(source), { chatTokenizer: null, think });
const settings = envSettings(parseConfig({ processReward: 1, invalidPenalty: 0.1 }));
const wordsIn = (env: ToolEnv, ids: readonly number[]) => ids.map((id) => env.vocabulary[id]).join(' ');
const step = (env: ToolEnv, episode: Episode, turn: string) =>
  episode.step(
    turn.split(' ').map((word) => env.vocabulary.indexOf(word)),
    settings,
  );

test.each([
  ['One of: "ant", bee (or cow).', 'One of : " ant " , bee ( or cow ) .'],
  ['G-Y 3.5 -2  north-west\nit’s', 'G-Y 3.5 -2 north-west it’s'],
  ['', ''],
  ['?!', '? !'],
])('the words of %j are %j', (text, words) => {
  expect(textWords(text).join(' ')).toBe(words);
});

test.each(['', ' ', 'tea', 'two words', 'a, b', 'tea,', '<call>', 'x </call>', '""x', 'two  blanks', '\n'])(
  'the argument %j comes back from its words',
  (text) => {
    expect(wordsValue(valueWords(text), { type: 'string' })).toBe(text);
  },
);

test('numbers and truth values come back from their words', () => {
  for (const number of [0, -1.5, 1e21, 12]) expect(wordsValue(valueWords(number), { type: 'number' })).toBe(number);
  for (const truth of [true, false]) expect(wordsValue(valueWords(truth), { type: 'boolean' })).toBe(truth);
});

describe('a person’s environment in words', () => {
  let env: ToolEnv;
  beforeAll(async () => {
    env = await inWords(NUMBERS);
  });
  const hidden = (episode: Episode) => Number(wordsIn(env, episode.expert()).split(' ')[2]);

  test('a call is its tool and its argument, a token each, and an observation the words of the answer', () => {
    const episode = env.reset(3, settings);
    expect(wordsIn(env, episode.expert())).toMatch(/^<call> guess \d <\/call>$/);
    const turn = step(env, episode, '<call> ask true </call>');
    expect(wordsIn(env, turn.observation)).toBe(`<obs> ${hidden(episode) % 2 === 0 ? 'even' : 'odd'} </obs>`);
    expect(turn).toMatchObject({ valid: true, toolCall: true, stop: null });
    expect(step(env, episode, `<call> guess ${hidden(episode)} </call>`)).toMatchObject({
      success: true,
      stop: 'found',
    });
  });

  test('under the grammar every walk through it is a call that can be made; there is no answer where nobody gives one', () => {
    const grammar = env.grammar(true);
    const draw = random(5, Purpose.evalSample, 0);
    const seen = new Set<string>();
    for (let walk = 0; walk < 200; walk++) {
      let state = env.reset(walk, settings).grammarState;
      const ids: number[] = [];
      while (grammar.stop[state] === 0) {
        const legal = env.vocabulary.flatMap((_, id) => {
          const to = grammar.next[state * grammar.vocabulary + id] ?? -1;
          return to >= 0 ? [[id, to] as const] : [];
        });
        const [id, to] = draw.pick(legal);
        ids.push(id);
        state = to;
      }
      expect(ids.length).toBeLessThanOrEqual(env.maxTurnTokens);
      expect(env.reset(walk, settings).step(ids, settings).valid).toBe(true);
      seen.add(wordsIn(env, ids));
    }
    expect([...seen].toSorted()).toEqual([
      '<call> ask false </call>',
      '<call> ask true </call>',
      ...Array.from({ length: 10 }, (_, n) => `<call> guess ${n} </call>`),
    ]);
  });

  test.each([
    '<call> guess </call>',
    '<call> guess true </call>',
    '<call> guess 1 2 </call>',
    '<call> 3 </call>',
    '<call> ask 3 </call>',
  ])('off the grammar, %s is malformed and costs the format penalty', (words) => {
    const turn = step(env, env.reset(3, settings), words);
    expect(turn).toMatchObject({ valid: false, toolCall: false, parts: { format: -0.1 } });
    expect(wordsIn(env, turn.observation)).toBe('<obs> error </obs>');
  });

  test('expert and demonstrator stay within the grammar, and fit into the room there is', () => {
    const table = { env, settings };
    const grammar = env.grammar(true);
    for (let seed = 0; seed < 40; seed++) {
      for (const player of [expertPlayer, demonstrator(0.5, random(seed, Purpose.demonstration, 0))]) {
        const { finishedTurns: taken, tokens: written } = playToEnd(
          openEpisode(table, { seed, environmentSeed: seed }),
          player,
        );
        expect(taken.every(({ valid }) => valid)).toBe(true);
        expect(written.length).toBeLessThanOrEqual(env.maxTokens);
        let state = env.reset(seed, settings).grammarState;
        for (const { token, role } of written) {
          if (role !== Role.action) continue;
          state = grammar.next[state * grammar.vocabulary + token] ?? -1;
          expect(state).toBeGreaterThan(0);
          if (grammar.stop[state] === 1) ({ grammarState: state } = env.reset(seed, settings));
        }
      }
    }
  });
});

const NAMES = acting(
  'this.done = word === this.name; return "no, it is " + this.name;',
  '',
  'static maxTurns = 2; static tasks = { train: 400, test: 50 }; name = ""; expert() { return { tool: "act", arguments: { word: this.name } }; }',
)
  .replace("'begin ' + draw.int(1000)", "'say ' + (this.name = 'Mr' + 'xyzuvw'[draw.int(6)] + draw.int(100000))")
  .replace('return 1;', 'return this.done ? 1 : 0;');

test('a rare word is a slot that stands for it in this episode; the agent can copy it and is understood', async () => {
  const env = await inWords(NAMES);
  expect(env.vocabulary.length).toBeLessThan(60); // 900 names were said
  const [first, second] = [1, 2].map((seed) => env.reset(seed, settings));
  const slot =
    wordsIn(env, first?.prompt ?? [])
      .split(' ')
      .at(-1) ?? '';
  expect(slot).toMatch(/^name\d$/);
  expect([...(first?.names.values() ?? [])]).toEqual([first?.question.split(' ')[1]]);
  expect([...(second?.names.values() ?? [])]).not.toEqual([...(first?.names.values() ?? [])]);
  if (!first || !second) return;
  expect(wordsIn(env, first.expert())).toBe(`<call> act ${slot} </call>`);
  expect(step(env, first, `<call> act ${slot} </call>`)).toMatchObject({ success: true });
  const empty = env.vocabulary.find((word) => /^name\d$/.test(word) && !second.names.has(env.vocabulary.indexOf(word)));
  expect(step(env, second, `<call> act ${empty ?? ''} </call>`).valid).toBe(false);
});

test('an expert who says what it never said in the measured tasks shows a call that the agent can make', async () => {
  const late = acting(
    'return "no";',
    '',
    'static maxTurns = 2; static tasks = { train: 1000, test: 50 }; index = 0; expert() { return { tool: "act", arguments: { word: this.index < 900 ? "tea" : "rum" } }; }',
  ).replace('reset({ draw }): string { return', 'reset({ draw, index }): string { this.index = index; return');
  const env = await inWords(late);
  for (const seed of [0, 950]) expect(wordsIn(env, env.reset(seed, settings).expert())).toBe('<call> act tea </call>');
});

const EVER_NEW = acting(
  'if (this.index >= 900) this.name += "x"; return "no, say " + this.name;',
  '',
  'static maxTurns = 5; static tasks = { train: 1000, test: 50 }; index = 0; name = ""; expert() { return { tool: "act", arguments: { word: this.name } }; }',
).replace(
  "reset({ draw }): string { return 'begin ' + draw.int(1000)",
  "reset({ draw, index }): string { this.index = index; return 'say ' + (this.name = 'Mr' + 'xyzuvw'[draw.int(6)] + draw.int(100000))",
);

test('where an episode has more rare words than slots, a demonstration is still of calls that the agent can make', async () => {
  const env = await inWords(EVER_NEW);
  const slots = env.vocabulary.filter((word) => /^name\d$/.test(word));
  expect(slots.length).toBeLessThan(5); // the measured tasks have one name each, this one has five
  const {
    stop,
    finishedTurns: taken,
    tokens: written,
  } = playToEnd(openEpisode({ env, settings }, { seed: 950, environmentSeed: 950 }), expertPlayer);
  expect(stop).toBe('turns');
  expect(taken).toHaveLength(5);
  const calls = wordsIn(
    env,
    written.filter(({ role }) => role === Role.action).map(({ token }) => token),
  );
  expect(calls).toMatch(/^(<call> act name\d <\/call> ?){5}$/);
});

const PAIRS = acting(
  'return word + ": " + count;',
  '',
  'static maxTurns = 2; turn = 0; expert() { return ++this.turn % 2 === 0 ? "that is all" : { tool: "act", arguments: { word: "green tea", count: 2 } }; }',
).replace('act(word: string)', 'act(word: string, count: number)');

test('an argument of several words ends with a mark where another one follows; an expert’s text is an answer', async () => {
  const env = await inWords(PAIRS);
  const episode = env.reset(0, settings);
  expect(wordsIn(env, episode.expert())).toBe('<call> act green tea <next> 2 </call>');
  const turn = step(env, episode, '<call> act green tea <next> 2 </call>');
  expect(wordsIn(env, turn.observation)).toBe('<obs> green tea : 2 </obs>');
  expect(step(env, episode, '<answer> that is all </answer>')).toMatchObject({ stop: 'answered', valid: true });
});

test('with thoughts a turn may open with some words, which are paid if the expert’s next call has them', async () => {
  const env = await inWords(NUMBERS, true);
  const episode = env.reset(3, settings);
  const right = wordsIn(env, episode.expert());
  expect(right).toMatch(/^<think> guess (\d) <\/think> <call> guess \1 <\/call>$/);
  const paid = episode.step(episode.expert(), { ...settings, thinkReward: 1 });
  expect(paid.parts.think).toBe(1);
});
