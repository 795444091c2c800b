import { expect, test } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { ENV_NAMES, ENVIRONMENTS } from '../../src/config/environments.ts';
import { buildGrammar, unmaskedGrammar } from '../../src/envs/grammar.ts';
import { createEnv } from '../../src/envs/index.ts';
import { ERROR_WORD, FAILURE_WORD, buildVocabulary } from '../../src/envs/vocab.ts';
import { TAGS } from '../../src/text/tags.ts';
import { factsFor } from './factFiles.ts';

test('a vocabulary is the tags, the two fixed answers and its own words, each once', () => {
  const { words, id, ids, word, nonTagIds: content } = buildVocabulary(['left', 'right']);
  expect(words).toEqual([...TAGS, ERROR_WORD, FAILURE_WORD, 'left', 'right']);
  expect(words.map(id)).toEqual(words.map((_, at) => at));
  expect(ids(['right', '<pad>'])).toEqual([13, 0]);
  expect(content.map(word)).toEqual(['error', 'none', 'left', 'right']);
});

test('a word given twice, an unknown word and an unknown id are refused with what is wanted', () => {
  expect(() => buildVocabulary(['left', 'right', 'left'])).toThrow('vocabulary: left is given twice.');
  expect(() => buildVocabulary(['up', '<call>', 'down', 'up'])).toThrow('<call>, up is given twice');
  const { id, word } = buildVocabulary(['left']);
  expect(() => id('up')).toThrow('vocabulary: it has no word up. Its words are <pad> <bos> ');
  expect(() => word(13)).toThrow('vocabulary: id 13 is out of range: ids go from 0 to 12.');
  expect(word(12)).toBe('left');
});

test('a grammar has a free state 0, numbers its states from 1, and a turn ends where it says', () => {
  const { grammar, state } = buildGrammar(5, [
    { name: 'begin', edges: [[[2, 4], 'end']] },
    { name: 'end', stop: true, edges: [[[3], 'begin']] },
  ]);
  expect([state('begin'), state('end'), grammar.states, grammar.vocabulary]).toEqual([1, 2, 3, 5]);
  expect(Array.from(grammar.next)).toEqual([
    ...[0, 0, 0, 0, 0], // all is legal
    ...[-1, -1, 2, -1, 2],
    ...[-1, -1, -1, 1, -1],
  ]);
  expect(Array.from(grammar.stop)).toEqual([0, 0, 1]);
});

test('in unmasked text every token is legal, and only what closes a call or an answer ends the turn', () => {
  const words = buildVocabulary(['left']);
  const { grammar, state } = unmaskedGrammar(words);
  const from = (name: string) => words.words.map((_, id) => grammar.next[state(name) * grammar.vocabulary + id]);
  const closing = words.ids(['</call>', '</answer>']);
  expect(from('turn')).toEqual(words.words.map((_, id) => state(closing.includes(id) ? 'end' : 'turn')));
  expect(from('end').every((to) => to === -1)).toBe(true);
  expect([grammar.stop[state('turn')], grammar.stop[state('end')]]).toEqual([0, 1]);
});

test('a state that is none and more than 256 of them are refused', () => {
  expect(() => buildGrammar(5, [{ name: 'a', edges: [[[1], 'b']] }])).toThrow(
    'buildGrammar: there is no state b. The states are a.',
  );
  const many = (n: number) => Array.from({ length: n }, (_, i) => ({ name: String(i), edges: [] }));
  expect(buildGrammar(1, many(255)).grammar.states).toBe(256);
  expect(() => buildGrammar(1, many(256))).toThrow('buildGrammar: 257 states are too many: the limit is 256.');
});

test.each(ENV_NAMES)('%s: the prompt that stands for its tasks is in its words', (env) => {
  const { vocabulary: words } = createEnv(parseConfig({ env }), factsFor(env));
  expect(ENVIRONMENTS[env].examplePrompt.split(' ').filter((word) => !words.includes(word))).toEqual([]);
});
