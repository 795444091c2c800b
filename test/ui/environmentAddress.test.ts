import { deflateSync } from 'fflate';
import { expect, test } from 'vitest';
import { random } from '../../src/base/rng.ts';
import { environmentHash, readEnvironmentHash } from '../../src/page/environment/environmentAddress.ts';
import { TEMPLATES } from '../../src/page/environment/templates.ts';

test.each(TEMPLATES)('the template $title fits into a link, and comes out of it as it was', ({ file }) => {
  const hash = environmentHash(file);
  expect(hash).toMatch(/^#\/environment\?name=[\w.]+&code=[\w-]+$/);
  expect(readEnvironmentHash(hash ?? '')).toEqual({ file, corrections: [] });
});

test('every letter there is comes through', () => {
  const file = { name: 'ünïcode 1.ts', text: 'é 🎲 \u0000 \u2028 \u202e \t\n+&=?#%' };
  expect(readEnvironmentHash(environmentHash(file) ?? '')).toEqual({ file, corrections: [] });
});

test('a text that would make a link of more than 8,000 characters gets none', () => {
  const draw = random(1, 1);
  const text = Array.from({ length: 12_000 }, () => String.fromCharCode(97 + draw.int(26))).join('');
  expect(environmentHash({ name: 'a.ts', text })).toBeNull(); // letters drawn evenly take 4.7 bits each: 7,050 bytes
  expect(environmentHash({ name: 'a.ts', text: text.slice(0, 8000) })?.length).toBeLessThanOrEqual(8000);
});

const packed = (bytes: Uint8Array) => Buffer.from(deflateSync(bytes)).toString('base64url');

test.each([
  ['cut off', environmentHash({ name: 'a.ts', text: 'export default class { reset() {} }'.repeat(9) })?.slice(0, -9)],
  ['no code', '#/environment?code='],
  ['no base64', '#/environment?code=%%%'],
  ['other bytes', '#/environment?code=AAAAAAAA'],
  ['no UTF-8', `#/environment?code=${packed(Uint8Array.from([0xff, 0xfe, 0x80]))}`],
  [
    'a gigabyte of blanks, which fits into a megabyte',
    `#/environment?code=${packed(new Uint8Array(5_000_000).fill(32))}`,
  ],
])('a damaged link brings no file, and says so: %s', (_, hash) => {
  const { file, corrections } = readEnvironmentHash(hash ?? '');
  expect(file).toBeNull();
  expect(corrections).toHaveLength(1);
});

test('a name from a link is a name of a file, and nothing that hides or leads elsewhere', () => {
  const hash = environmentHash({ name: '../../a\u202e<b>.ts', text: 'x' }) ?? '';
  expect(readEnvironmentHash(hash).file?.name).toBe('....ab.ts');
});
