import { isTag } from '../text/tags.ts';

/** Stands for an empty text, which has no words. */
const EMPTY = '""';

/** The words of a text: what stands between blanks, without the punctuation around it, which is words of its own. */
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

/** An argument in words. `wordsValue` has it back: a text whose words do not give it exactly is one word. */
export function valueWords(value: unknown): readonly string[] {
  const text = String(value);
  const words = textWords(text);
  if (text === '') return [EMPTY];
  return words.join(' ') === text && !words.some(isTag) ? words : [text];
}

/** The argument that words say, of the given type; a text for words that say none of that type. */
export function wordsValue(words: readonly string[], type: string): unknown {
  const text = words.join(' ');
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text;
  if (type === 'string') return text === EMPTY ? '' : text;
  const number = Number(text);
  return Number.isNaN(number) ? text : number;
}
