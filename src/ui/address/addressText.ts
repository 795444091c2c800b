const LONGEST = 60; // characters
const UNSEEN = /[\p{C}\p{Z}\p{M}\p{Default_Ignorable_Code_Point}\u2800\u3164]/gu;

/** A text from outside as a sentence can hold it: short, and every character to be seen (U+202E is written as such). */
export function visible(text: string): string {
  if (text === '') return 'an empty text';
  const characters = Array.from(text.slice(0, 2 * LONGEST + 2)); // an address may have millions
  const shown = characters.slice(0, LONGEST).join('').replace(UNSEEN, written);
  return characters.length > LONGEST ? `${shown}… (${text.length} characters)` : shown;
}

function written(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return character === ' ' ? ' ' : `\\u{${code.toString(16)}}`;
}
