// Unicode's invisible characters: Default_Ignorable_Code_Point and format characters (Cf). Some format characters are
// drawn all the same: the Arabic, Syriac and Kaithi signs around numbers. Listed one by one: blank characters in
// neither class (the empty braille pattern, the null notehead, the Khitan filler), and the object replacement
// character.
const VISIBLE_FORMATS = String.raw`\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}`;
const HIDDEN = String.raw`(?![${VISIBLE_FORMATS}])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u2800\ufffc\u{1d159}]|\u{16fe4}`;
const FIRST_HIDDEN = new RegExp(HIDDEN, 'u');
const ALL_HIDDEN = new RegExp(HIDDEN, 'gu');

// Scripts in which a zero-width joiner or non-joiner changes the shape of the letters beside it.
const JOINING_SCRIPTS =
  'Arab Syrc Mong Nkoo Mand Adlm Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Khmr Mymr Tibt Java Bali'
    .split(' ')
    .map((script) => String.raw`\p{scx=${script}}`)
    .join('');
const JOINING_LETTER = String.raw`[[${JOINING_SCRIPTS}]&&[\p{L}\p{M}]]`;
/** Sequences in which a hidden character is needed: it shapes the visible characters beside it. */
const SHAPING_SEQUENCES = new RegExp(
  [
    String.raw`\p{RGI_Emoji}`,
    String.raw`(?<=${JOINING_LETTER})\p{Join_Control}(?=${JOINING_LETTER})`,
    String.raw`(?<=[\p{Script=Han}\p{Script=Mong}])\p{Variation_Selector}`, // variants of a glyph
  ].join('|'),
  'gv',
);
const PLAIN_ASCII = /^[\x20-\x7e]*$/;
const RIGHT_TO_LEFT = /[\p{scx=Arab}\p{scx=Hebr}\p{scx=Syrc}\p{scx=Thaa}\p{scx=Nkoo}\p{scx=Adlm}]/u;
const MAX_CHARACTERS = 80;

/**
 * Returns the code of the first character of a text that is invisible or changes the text's direction, such as
 * `U+200B`. Null if there is none. Joiners and variation selectors that shape a letter or an emoji beside them are
 * allowed.
 */
export function firstHiddenCode(text: string): string | null {
  if (PLAIN_ASCII.test(text)) return null;
  const hidden = FIRST_HIDDEN.exec(text) && FIRST_HIDDEN.exec(text.replace(SHAPING_SEQUENCES, 'x'))?.[0];
  return hidden ? codePointText(hidden) : null;
}

/**
 * Makes any text, such as a file's name, one line that can be shown safely beside other text. Characters that cannot be
 * seen or that change the direction are written as ‹U+202E›. A text with right-to-left letters is wrapped in isolating
 * marks (U+2068, U+2069), so that it doesn't reorder the text around it. A text of more than `maxLength` code points is
 * cut to `maxLength` of them, the last one “…”.
 */
export function visible(text: string, maxLength = MAX_CHARACTERS): string {
  if (text.length <= maxLength && PLAIN_ASCII.test(text)) return text;
  // a code point takes at most two code units; don't split a text of millions
  const codePoints = Array.from(text.slice(0, 2 * maxLength + 2));
  const shortened = codePoints.length > maxLength ? `${codePoints.slice(0, maxLength - 1).join('')}…` : text;
  const escaped =
    firstHiddenCode(shortened) === null
      ? shortened
      : shortened.replace(ALL_HIDDEN, (hidden) => `‹${codePointText(hidden)}›`);
  return RIGHT_TO_LEFT.test(escaped) ? `\u2068${escaped}\u2069` : escaped;
}

function codePointText(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
