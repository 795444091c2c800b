import { expect, test } from 'vitest';
import { comparedRecord, comparedRow, partingOf } from '../../src/page/rollout/parting.ts';
import { recordWithDefaults, type Segment } from '../../src/rollouts/rolloutRecord.ts';
import { example, exampleVocabulary } from './example.ts';

const row = (at: number) => comparedRow(`rollout ${at}`, example, exampleVocabulary, at);
const textsOf = (at: number) => row(at).text;

test('two rollouts part at the first word that differs, in its turn; the turns of the longer one are all there', () => {
  // both hunt for 11: they say 7 in turn 1, then 12 and 11
  const [long, short] = [textsOf(0), textsOf(3)];
  const { at, turn, turns } = partingOf(long, short)!;
  expect([long.words[at], short.words[at], turn, turns.at(-1)]).toEqual(['12', '11', 2, 4]);
  expect(long.words.slice(0, at)).toEqual(short.words.slice(0, at));
});

test('a rollout that ends where the other goes on parts at its end; one beside itself does not part', () => {
  const whole = textsOf(0);
  const cut = { ...whole, words: whole.words.slice(0, 5), turns: whole.turns.slice(0, 1) };
  expect(partingOf(cut, whole)).toMatchObject({ at: 5, turn: 1 });
  expect(partingOf(whole, cut)).toMatchObject({ at: 5, turn: 1 });
  expect(partingOf(whole, whole)).toBeNull();
});

test('a token that the agent drew has the probability it was drawn with; the environment’s has none', () => {
  const { drawnLogprob, text } = row(0);
  const drawn = text.words.map((_, t) => drawnLogprob(t));
  const isDrawn = Array.from(text.words, (_, t) => example.roles[t] === 2);
  expect(drawn.map((each) => each !== undefined)).toEqual(isDrawn);
});

test('texts of a file without tokens are split at blanks and keep their turns', () => {
  const segment = (turn: number, text: string): Segment => ({ ...{ role: 'action', kind: 'call', turn, text }, from: null, to: null }); // prettier-ignore
  const texts = (last: string) =>
    comparedRecord('', recordWithDefaults({ segments: [segment(1, 'find 7'), segment(2, last)] })).text;
  const [a, b] = [texts('find 12 now'), texts('find 11')];
  expect(partingOf(a, b)).toEqual({ at: 3, turn: 2, turns: [1, 2] });
  expect(a.words.join('')).toBe('find 7find 12 now');
});
