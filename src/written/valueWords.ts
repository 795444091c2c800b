import { isTag } from '../text/tags.ts';

/** The word that stands for an empty text. */
const EMPTY = '""';

/** Splits a text into words at blanks. Punctuation around a word becomes words of its own. */
export function textWords(text: string): readonly string[] {
  return text.split(/\s+/).flatMap((part) => {
    const [, before = '', word = '', after = ''] = /^(["'“‘([{]*)(.*?)([)\]}"'”’.,;:!?]*)$/u.exec(part) ?? [
      '',
      '',
      part,
    ];
    return [...Array.from(before), ...(word === '' ? [] : [word]), ...Array.from(after)];
  });
}

/**
 * Writes an argument as words, so that `wordsValue` reads it back exactly. If splitting would lose something, the whole
 * text is one word.
 */
export function valueWords(value: unknown): readonly string[] {
  const text = String(value);
  const words = textWords(text);
  if (text === '') return [EMPTY];
  return words.join(' ') === text && !words.some(isTag) ? words : [text];
}

/** Reads an argument of the given type from words. If the words don't have that type, returns them as text. */
export function wordsValue(words: readonly string[], type: string): unknown {
  const text = words.join(' ');
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text;
  if (type === 'string') return text === EMPTY ? '' : text;
  const number = Number(text);
  return Number.isNaN(number) ? text : number;
}
