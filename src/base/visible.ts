// Default_Ignorable_Code_Point and the formats (Cf) are what Unicode says is drawn as nothing; the formats that are drawn are the
// Arabic, Syriac and Kaithi signs around numbers. By hand: blanks that Unicode takes for symbols (braille, the null notehead, the
// Khitan filler, the object replacement character).
const DRAWN_FORMATS = String.raw`\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}`;
const HIDDEN = String.raw`(?![${DRAWN_FORMATS}])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u2800\ufffc\u{1d159}]|\u{16fe4}`;
const FIRST_HIDDEN = new RegExp(HIDDEN, 'u');
const ALL_HIDDEN = new RegExp(HIDDEN, 'gu');

// Scripts in which a joiner changes how its neighbours are written.
const JOINED = [
  ...[
    'Arab',
    'Syrc',
    'Mong',
    'Nkoo',
    'Mand',
    'Adlm',
    'Deva',
    'Beng',
    'Guru',
    'Gujr',
    'Orya',
    'Taml',
    'Telu',
    'Knda',
    'Mlym',
  ],
  ...['Sinh', 'Khmr', 'Mymr', 'Tibt', 'Java', 'Bali'],
]
  .map((script) => String.raw`\p{scx=${script}}`)
  .join('');
const PICTURE = String.raw`\p{Extended_Pictographic}(?:\p{Emoji_Modifier}|\ufe0f)?`;
/** What nobody sees by itself, where it belongs to what is seen beside it. */
const BELONGS = new RegExp(
  [
    String.raw`\u{1f3f4}\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}`, // flags of England, Scotland, Wales
    String.raw`${PICTURE}(?:\u200d${PICTURE})*`,
    String.raw`[0-9#*]\ufe0f\u20e3`, // keycaps
    String.raw`(?<=(?=[\p{L}\p{M}])[${JOINED}])[\u200c\u200d](?=[\p{L}\p{M}])(?=[${JOINED}])`,
    String.raw`(?<=\p{Script=Han})[\ufe00-\ufe02\u{e0100}-\u{e01ef}]`, // variants of a glyph
    String.raw`(?<=\p{Script=Mong})[\u180b-\u180d\u180f]`,
  ].join('|'),
  'gu',
);
const PLAIN = /^[\x20-\x7e]*$/;
const RIGHT_TO_LEFT = /[\p{scx=Arab}\p{scx=Hebr}\p{scx=Syrc}\p{scx=Thaa}\p{scx=Nkoo}\p{scx=Adlm}]/u;
const LONGEST = 80;

/**
 * The first character of a text that cannot be seen or that turns the text around, as `U+200B`; null where there is none. What
 * belongs to a letter or an emoji beside it (joiners, variation selectors) is no such character there.
 */
export function firstHidden(text: string): string | null {
  if (PLAIN.test(text)) return null;
  const found = FIRST_HIDDEN.exec(text) && FIRST_HIDDEN.exec(text.replace(BELONGS, 'x'))?.[0];
  return found ? codeOf(found) : null;
}

/**
 * Any text, a file's name for instance, as one line that can be shown safely beside others: what cannot be seen or turns the text
 * around is written as ‹U+202E›, what runs from right to left does so by itself, and what has more than `most` letters is cut.
 */
export function visible(text: string, most = LONGEST): string {
  if (text.length <= most && PLAIN.test(text)) return text;
  const letters = Array.from(text.slice(0, 2 * most + 2)); // as many, even if all are pairs: the text may have millions
  const short = letters.length > most ? `${letters.slice(0, most - 1).join('')}…` : text;
  const kept = firstHidden(short) === null ? short : short.replace(ALL_HIDDEN, (hidden) => `‹${codeOf(hidden)}›`);
  return RIGHT_TO_LEFT.test(kept) ? `\u2068${kept}\u2069` : kept;
}

function codeOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
