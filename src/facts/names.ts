/** Letters a name may have. */
export const LONGEST_NAME = 60;

// what nobody sees, and what turns the reading direction of all that follows; joiners (U+200C, U+200D) belong to scripts
const HIDDEN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufffe\uffff]/u;
const NUMBER = /^[+-]\d[\d ., ]*$/;

/** A cell as it is kept: composed letters (NFC), no space around it, one space within. */
export function tidy(cell: string): string {
  return cell.normalize('NFC').trim().replaceAll(/ {2,}/g, ' ');
}

/** What is wrong with a name, and what to do; null where nothing is. Names are shown as text, so markup in them is harmless. */
export function nameProblem(name: string): string | null {
  if (name === '') return 'is empty. Fill it in, or remove the line.';
  const hidden = HIDDEN.exec(name)?.[0].codePointAt(0);
  if (hidden !== undefined) {
    const code = hidden.toString(16).toUpperCase().padStart(4, '0');
    return `holds U+${code}, a character that cannot be seen or turns the text around. Remove it.`;
  }
  if (name.includes('\ufffd')) return 'holds U+FFFD, which stands for a letter that was lost. Save the file as UTF-8.';
  const length = Array.from(name).length;
  if (length > LONGEST_NAME) {
    return `has ${length} letters (${excerpt(name)}); want at most ${LONGEST_NAME}. Shorten it.`;
  }
  if (/^[=@+-]/.test(name) && !NUMBER.test(name)) {
    return `begins with ${name.charAt(0)} (${excerpt(name)}): a spreadsheet would run it as a formula. Put a word before it, or remove the sign.`;
  }
  return null;
}

/** The beginning of a text, for a message. */
export function excerpt(text: string): string {
  const letters = Array.from(text);
  return letters.length > 24 ? `${letters.slice(0, 23).join('')}…` : text;
}
