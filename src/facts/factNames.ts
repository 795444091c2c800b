import { firstHiddenCode, visible } from '../base/visible.ts';

/** Maximum length of a name, in characters. */
export const MAX_NAME_LENGTH = 60;
const EXCERPT_LENGTH = 24; // characters

const SIGNED_NUMBER = /^[+-]\d[\d ., ]*$/;

/** ASCII text that `normalizedCell` leaves as it is. */
const NORMALIZED = /^(?:[!-~]+(?: [!-~]+)*)?$/;

/**
 * Normalizes a cell: composed characters (NFC), no spaces at its ends, and one ASCII space for any run of Unicode's
 * spaces.
 */
export function normalizedCell(cell: string): string {
  return NORMALIZED.test(cell)
    ? cell
    : cell
        .normalize('NFC')
        .replaceAll(/\p{Zs}+/gu, ' ')
        .trim();
}

/**
 * What is wrong with a name, and what to do; null if it is fine. Names are shown as text, so markup in them is
 * harmless.
 */
export function nameProblem(name: string): string | null {
  if (name === '') return 'is empty. Fill it in, or remove the line.';
  const hidden = firstHiddenCode(name);
  if (hidden !== null) return `holds ${hidden}, a character that cannot be seen or turns the text around. Remove it.`;
  if (/^\p{M}/u.test(name))
    return `begins with an accent that has no letter (${excerpt(name)}). Put the letter before it.`;
  if (name.includes('\ufffd')) return 'holds U+FFFD, which stands for a letter that was lost. Save the file as UTF-8.';
  const length = Array.from(name).length;
  if (length > MAX_NAME_LENGTH) {
    return `has ${length} characters (${excerpt(name)}); at most ${MAX_NAME_LENGTH} fit. Shorten it.`;
  }
  if (/^[=@+\uff1d\uff20\uff0b\uff0d-]/.test(name) && !SIGNED_NUMBER.test(name)) {
    return `begins with ${name.charAt(0)} (${excerpt(name)}): a spreadsheet would run it as a formula. Put a word before it, or remove the sign.`;
  }
  return null;
}

/** The beginning of a text, for a message; `…` marks a cut. */
export function excerpt(text: string): string {
  // enough characters even if all are surrogate pairs
  const characters = Array.from(text.slice(0, 2 * EXCERPT_LENGTH + 2));
  return visible(characters.length > EXCERPT_LENGTH ? `${characters.slice(0, EXCERPT_LENGTH - 1).join('')}…` : text);
}
