import { expect, test } from 'vitest';
import { hashOf, subpathOf, readHash, routeOf } from '../../src/ui/address/hash.ts';
import { parseConfig } from '../../src/config/config.ts';
import { learnHash, readLearnAddress } from '../../src/ui/learn/learnAddress.ts';

test('a place of Learn stands in the address, and its knobs behind it', () => {
  const config = parseConfig({ seed: 3 });
  const hash = hashOf(config, 'learn', undefined, 'de/clip/tight');
  expect(hash).toMatch(/^#\/learn\/de\/clip\/tight\?v=2&.*seed=3/);
  expect([routeOf(hash), subpathOf(hash)]).toEqual(['learn', 'de/clip/tight']);
  expect(readHash(hash)).toMatchObject({ config, corrections: [] });
  expect(readHash('#/learn/en/clip').corrections).toEqual([]);
});

test('screens without places have none in their address', () => {
  expect(subpathOf('#/lab/clip')).toBe('');
  expect(readHash('#/lab/clip').corrections.join()).toContain('#/lab/clip: no such screen');
});

test.each([
  ['', { language: null, chapter: null, exercise: null }],
  ['clip', { language: null, chapter: 'clip', exercise: null }],
  ['de/clip', { language: 'de', chapter: 'clip', exercise: null }],
  ['de', { language: 'de', chapter: null, exercise: null }],
  ['en/mask/loss', { language: 'en', chapter: 'mask', exercise: 'loss' }],
  ['en/class', { language: 'en', chapter: 'class', exercise: null }],
] as const)('%j is read, and nothing of it is told off', (place, wanted) => {
  expect(readLearnAddress(place)).toEqual({ ...wanted, correctionMessages: [] });
});

test.each([
  ['en/nowhere', 'chapter: nowhere isn’t a chapter. Use en or de, then one of rollout, mask, '],
  ['fr/clip', 'chapter: fr isn’t a chapter. Use en or de, then one of'],
  ['en/clip/loose', 'exercise: loose isn’t tight. Ignored.'],
  ['en/clip/tight/more', 'exercise: tight/more isn’t tight. Ignored.'],
  ['class/x', 'exercise: x isn’t possible here. Ignored.'],
  ['en/__proto__', 'chapter: __proto__ isn’t a chapter'],
])('%j names what is not there, and that is told', (place, told) => {
  const { correctionMessages } = readLearnAddress(place);
  expect(correctionMessages).toHaveLength(1);
  expect(correctionMessages[0]).toContain(told);
});

test('the address of a place is read back', () => {
  const hash = learnHash('de', 'mask', 'both');
  expect(hash).toBe('#/learn/de/mask/both');
  expect(readLearnAddress(subpathOf(hash))).toEqual({
    language: 'de',
    chapter: 'mask',
    exercise: 'both',
    correctionMessages: [],
  });
});
