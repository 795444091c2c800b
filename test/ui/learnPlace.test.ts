import { expect, test } from 'vitest';
import { hashOf, subpathOf, readHash, routeOf } from '../../src/page/address/hash.ts';
import { parseConfig } from '../../src/config/config.ts';
import { learnHash, readLearnAddress } from '../../src/page/learn/learnAddress.ts';

test('a place of Learn stands in the address, and its knobs behind it', () => {
  const config = parseConfig({ seed: 3 });
  const hash = hashOf(config, { route: 'learn', subpath: 'clip/tight' });
  expect(hash).toMatch(/^#\/learn\/clip\/tight\?v=2&.*seed=3/);
  expect([routeOf(hash), subpathOf(hash)]).toEqual(['learn', 'clip/tight']);
  expect(readHash(hash)).toMatchObject({ config, corrections: [] });
  expect(readHash('#/learn/clip').corrections).toEqual([]);
});

test('screens without places have none in their address', () => {
  expect(subpathOf('#/lab/clip')).toBe('');
  expect(readHash('#/lab/clip').corrections.join()).toContain('#/lab/clip: no such screen');
});

test.each([
  ['', { chapter: null, exercise: null }],
  ['clip', { chapter: 'clip', exercise: null }],
  ['mask/loss', { chapter: 'mask', exercise: 'loss' }],
  ['class', { chapter: 'class', exercise: null }],
  ['de/clip/tight', { chapter: 'clip', exercise: 'tight' }], // a former link, with a language
  ['en', { chapter: null, exercise: null }],
] as const)('%j is read without a message', (place, wanted) => {
  expect(readLearnAddress(place)).toEqual({ ...wanted, correctionMessages: [] });
});

test.each([
  ['nowhere', 'chapter: nowhere isn’t a chapter. Use one of rollout, mask, '],
  ['fr/clip', 'chapter: fr isn’t a chapter. Use one of'],
  ['clip/loose', 'exercise: loose isn’t tight or moved. Ignored.'],
  ['clip/tight/more', 'exercise: tight/more isn’t tight or moved. Ignored.'],
  ['class/x', 'exercise: x isn’t possible here. Ignored.'],
  ['__proto__', 'chapter: __proto__ isn’t a chapter'],
])('%j names what is not there, and that is told', (place, told) => {
  const { correctionMessages } = readLearnAddress(place);
  expect(correctionMessages).toHaveLength(1);
  expect(correctionMessages[0]).toContain(told);
});

test('the address of a place is read back', () => {
  const hash = learnHash('mask', 'both');
  expect(hash).toBe('#/learn/mask/both');
  expect(readLearnAddress(subpathOf(hash))).toEqual({ chapter: 'mask', exercise: 'both', correctionMessages: [] });
});
