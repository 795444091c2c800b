import { describe, expect, it } from 'vitest';
import { THINK_WORDS } from '../../src/envs/grammar.ts';
import { type TurnRules, buildTurns } from '../../src/envs/turnRules.ts';
import { buildVocabulary } from '../../src/envs/vocab.ts';
import type { Task } from '../../src/envs/episodeRules.ts';
import type { EnvSettings } from '../../src/envs/env.ts';

const WORDS = () => buildVocabulary(['a', 'b', 'c']);
const CALL = { legalWords: [['a'], ['b', 'c']] };
const ANSWER = { legalWords: [['c'], ['c'], ['c']], lengths: [1, 3] };
const rules = (more: Partial<TurnRules>): TurnRules => ({ vocabulary: WORDS(), think: false, maxTurns: 2, ...more });

const TASK = { prompt: [], question: '', key: 'k' } as unknown as Task;
const SETTINGS = { grammar: true } as EnvSettings;

/** The sentences a turn may say from a state, as text, in the order of the vocabulary. */
function sayings({ grammar, maxTurnTokens }: ReturnType<typeof buildTurns>, from: number, on = true): string[] {
  const { next, stop, vocabulary: V } = grammar(on);
  const words = WORDS().words;
  const found: string[] = [];
  const walk = (state: number, said: readonly string[]) => {
    if (stop[state] === 1) return void found.push(said.join(' '));
    expect(said.length).toBeLessThan(maxTurnTokens);
    for (let v = 0; v < V; v++) {
      const to = next[state * V + v]!;
      if (to >= 0) walk(to, [...said, words[v]!]);
    }
  };
  walk(from, []);
  return found;
}

/** What turn `turn` may say. */
function turnSays(made: ReturnType<typeof buildTurns>, turn: 1 | 2): string[] {
  const episode = made.makeReset(() => TASK)(1, SETTINGS);
  if (turn === 1) return sayings(made, episode.grammarState);
  const begun = made.makeReset(() => TASK, { maxTurns: 1 })(1, SETTINGS);
  return sayings(made, begun.grammarState);
}

const CALLS = ['<call> a b </call>', '<call> a c </call>'];
const ANSWERS = ['<answer> c </answer>', '<answer> c c c </answer>'];

describe('what a turn may say', () => {
  it('a call or an answer, and in the last turn an answer alone', () => {
    const both = buildTurns(rules({ call: CALL, answer: ANSWER }));
    expect(turnSays(both, 1)).toEqual([...CALLS, ...ANSWERS]);
    expect(turnSays(both, 2)).toEqual(ANSWERS);
    expect(both.maxTurnTokens).toBe(5);
  });

  it('where there are only calls or only answers, the last turn is like the others', () => {
    const calls = buildTurns(rules({ call: CALL }));
    expect([turnSays(calls, 1), turnSays(calls, 2), calls.maxTurnTokens]).toEqual([CALLS, CALLS, 4]);
    const answers = buildTurns(rules({ answer: ANSWER }));
    expect([turnSays(answers, 1), turnSays(answers, 2), answers.maxTurnTokens]).toEqual([ANSWERS, ANSWERS, 5]);
  });

  it('with thinking, a span of up to three words before it', () => {
    const made = buildTurns(rules({ call: CALL, think: true }));
    expect(made.maxTurnTokens).toBe(4 + THINK_WORDS + 2);
    const said = turnSays(made, 1);
    expect(said).toContain('<think> a none c </think> <call> a b </call>');
    expect(said).toContain('<think> </think> <call> a b </call>');
    expect(said).toContain('<call> a b </call>');
    // words are a, b, c and the two the environment says; 5⁰ + 5 + 25 + 125 spans and none, two calls
    expect(said).toHaveLength(157 * 2);
  });

  it('without the grammar everything, until a call or an answer closes', () => {
    const made = buildTurns(rules({ call: CALL, answer: ANSWER }));
    const free = made.grammar(false);
    const { grammarState: state } = made.makeReset(() => TASK)(1, { ...SETTINGS, grammar: false });
    const words = WORDS();
    for (const word of words.words) {
      const to = free.next[state * free.vocabulary + words.id(word)]!;
      expect(to).toBeGreaterThan(0);
      expect(free.stop[to]).toBe(word === '</call>' || word === '</answer>' ? 1 : 0);
    }
  });

  it('tasks are drawn from the seed alone; the environment seed is the task’s unless given', () => {
    const drawn: unknown[] = [];
    const reset = buildTurns(rules({ call: CALL })).makeReset((draw, seeds) => {
      drawn.push([draw.next(), seeds]);
      return TASK;
    });
    reset(5, SETTINGS);
    reset(5, SETTINGS, 9);
    reset(6, SETTINGS);
    const [[first], [second], [third]] = drawn as [[number], [number], [number]];
    expect(second).toBe(first);
    expect(third).not.toBe(first);
    expect(drawn.map((each) => (each as unknown[])[1])).toEqual([
      { seed: 5, environmentSeed: 5 },
      { seed: 5, environmentSeed: 9 },
      { seed: 6, environmentSeed: 6 },
    ]);
  });
});
