const MAX_CHARACTERS = 60;
const INVISIBLE = /[\p{C}\p{Z}\p{M}\p{Default_Ignorable_Code_Point}\u2800\u3164]/gu;

/** Makes a text from an address fit for a sentence: short, and with invisible characters escaped (`\u{202e}`). */
export function addressExcerpt(text: string): string {
  if (text === '') return 'an empty text';
  const characters = Array.from(text.slice(0, 2 * MAX_CHARACTERS + 2)); // an address may have millions
  const shown = characters.slice(0, MAX_CHARACTERS).join('').replace(INVISIBLE, escaped);
  return characters.length > MAX_CHARACTERS ? `${shown}… (${text.length} characters)` : shown;
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return character === ' ' ? ' ' : `\\u{${code.toString(16)}}`;
}
