import { describe, expect, it } from 'vitest';
import { firstHiddenCode, visible } from '../src/base/visible.ts';

/** Every code point that Unicode says is drawn as nothing or turns the text around, and those that fonts leave blank. */
function* unseen(): Generator<number> {
  for (let code = 0; code <= 0x10ffff; code++) {
    if (/[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Cc}]/u.test(String.fromCodePoint(code))) yield code;
  }
  yield* [0x2800, 0x1d159, 0x16fe4, 0xfff9, 0xfffa, 0xfffb, 0xfffc];
}

it('no character that cannot be seen passes within a word, at its ends or alone', () => {
  let count = 0;
  for (const code of unseen()) {
    const character = String.fromCodePoint(code);
    const name = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
    for (const text of [character, `a${character}b`, `${character}b`, `a${character}`]) {
      if (firstHiddenCode(text) !== name) throw new Error(`${name} in ${JSON.stringify(text)} was not found`);
      if (visible(text) !== text.replace(character, `‹${name}›`))
        throw new Error(`${name} is shown as ${visible(text)}`);
    }
    count++;
  }
  expect(count).toBeGreaterThan(4000); // most are tags and variation selectors
});

describe('what belongs to its neighbour passes:', () => {
  it.each([
    ['an emoji of several', '👩‍🚀'],
    ['a family', '👨‍👩‍👧‍👦'],
    ['with a colour of skin', '👩🏽‍🚀'],
    ['a heart on fire', '❤️‍🔥'],
    ['a keycap', '1️⃣'],
    ['a flag', '🇵🇪'],
    ['the flag of Wales', '🏴󠁧󠁢󠁷󠁬󠁳󠁿'],
    ['Persian', 'می‌خواهم'],
    ['Sinhala', 'ශ්‍රී'],
    ['Hindi', 'क्‍ष'],
    ['a variant of a Chinese glyph', '葛󠄀'],
    ['Arabic numbers’ sign', '\u0600١٢'],
  ])('%s', (_name, text) => expect(firstHiddenCode(text)).toBeNull());
});

describe('and nowhere else:', () => {
  it.each([
    ['a joiner between Latin letters', 'a\u200db', 'U+200D'],
    ['a joiner after an emoji', '👩\u200d', 'U+200D'],
    ['a joiner before an emoji', '\u200d👩', 'U+200D'],
    ['a joiner at the end of Persian', 'می\u200c', 'U+200C'],
    ['two joiners', 'می\u200c\u200cخ', 'U+200C'],
    ['a variation selector after a letter', 'a\ufe0f', 'U+FE0F'],
    ['a second one after an emoji', '❤\ufe0f\ufe0f', 'U+FE0F'],
    ['a digit that is no keycap', '1\ufe0f', 'U+FE0F'],
    ['tags that make no flag', '🏴\u{e0061}\u{e0062}\u{e007f}', 'U+E0061'],
    ['a rare variant after a letter', 'a\u{e0100}', 'U+E0100'],
  ])('%s', (_name, text, code) => expect(firstHiddenCode(text)).toBe(code));
});

it('a name is shown on one line, short, and turns nothing around', () => {
  expect(visible('facts.csv')).toBe('facts.csv');
  expect(visible('gpj.\u202evsc\n.csv')).toBe('gpj.‹U+202E›vsc‹U+000A›.csv');
  expect(visible('עברית.csv')).toBe('\u2068עברית.csv\u2069');
  expect(Array.from(visible('🙂'.repeat(500)))).toHaveLength(80);
  expect(visible('\u001b[2J\ud800')).toBe('‹U+001B›[2J‹U+D800›');
});
