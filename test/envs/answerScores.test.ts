import { describe, expect, it } from 'vitest';
import { answerF1, answerScores, normalizeAnswer } from '../../src/envs/documentTask.ts';

// Worked by hand from hotpot_evaluate_v1.py.
describe('HotpotQA’s scores', () => {
  it.each([
    ['The  Rhône, River!', 'rhône river'],
    ['an A-team of the U.S.', 'ateam of us'],
    ['22,834', '22834'],
    ['theatre', 'theatre'], // an article is a whole word
    ['éa', 'éa'], // and é is a letter
    ['the', ''],
    ['“Lyon”', '“lyon”'], // only ASCII punctuation goes
  ])('normalise %s', (text, wanted) => expect(normalizeAnswer(text)).toBe(wanted));

  it.each([
    ['Rhone River', 'the Rhone river.', 1],
    ['Rhone', 'Rhone River', 2 / 3], // precision 1, recall 1/2
    ['the North Sea coast', 'North Sea', 0.8], // 2 of 3 words, 2 of 2
    ['New York New York', 'New York City', 4 / 7], // a word counts as often as both have it: 2 of 4, 2 of 3
    ['Paris', 'Lyon', 0],
    ['yes', 'yes', 1],
    ['yes it is', 'yes', 0], // yes, no and noanswer are right as a whole or not at all
    ['no', 'no one', 0],
    ['noanswer', 'answer', 0],
    ['a', 'the', 0], // nothing is left of either
    ['', 'Lyon', 0],
  ])('F1 of “%s” to “%s”', (given, wanted, f1) => expect(answerF1(given, wanted)).toBeCloseTo(f1, 12));

  it('tell an exact match from an answer that only contains what was wanted', () => {
    expect(answerScores('the Rhone', 'Rhone')).toEqual({ exact: 1, contains: 1, f1: 1 });
    expect(answerScores('Rhone or Rhine', 'Rhone')).toEqual({ exact: 0, contains: 1, f1: 0.5 });
    expect(answerScores('Rhone', 'Rhone River')).toMatchObject({ exact: 0, contains: 0 });
    expect(answerScores(null, 'Rhone')).toEqual({ exact: 0, contains: 0, f1: 0 });
  });
});
