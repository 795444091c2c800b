import { firstHidden, visible } from '../base/visible.ts';

/** Letters a name may have. */
export const LONGEST_NAME = 60;
const EXCERPT = 24;

const NUMBER = /^[+-]\d[\d ., ]*$/;

const TIDY = /^(?:[!-~]+(?: [!-~]+)*)?$/;

/** A cell as it is kept: composed letters (NFC), no space around it, one space within, whichever of Unicode's spaces it was. */
export function tidy(cell: string): string {
  return TIDY.test(cell)
    ? cell
    : cell
        .normalize('NFC')
        .replaceAll(/\p{Zs}+/gu, ' ')
        .trim();
}

/** What is wrong with a name, and what to do; null where nothing is. Names are shown as text, so markup in them is harmless. */
export function nameProblem(name: string): string | null {
  if (name === '') return 'is empty. Fill it in, or remove the line.';
  const hidden = firstHidden(name);
  if (hidden !== null) return `holds ${hidden}, a character that cannot be seen or turns the text around. Remove it.`;
  if (/^\p{M}/u.test(name))
    return `begins with an accent that has no letter (${excerpt(name)}). Put the letter before it.`;
  if (name.includes('\ufffd')) return 'holds U+FFFD, which stands for a letter that was lost. Save the file as UTF-8.';
  const length = Array.from(name).length;
  if (length > LONGEST_NAME) {
    return `has ${length} letters (${excerpt(name)}); at most ${LONGEST_NAME} fit. Shorten it.`;
  }
  if (/^[=@+\uff1d\uff20\uff0b\uff0d-]/.test(name) && !NUMBER.test(name)) {
    return `begins with ${name.charAt(0)} (${excerpt(name)}): a spreadsheet would run it as a formula. Put a word before it, or remove the sign.`;
  }
  return null;
}

/** The beginning of a text, for a message. */
export function excerpt(text: string): string {
  const letters = Array.from(text.slice(0, 2 * EXCERPT + 2)); // as many, even if all are pairs
  return visible(letters.length > EXCERPT ? `${letters.slice(0, EXCERPT - 1).join('')}…` : text);
}
