import type { Codec } from './codec.ts';
import type { Span } from './textFinder.ts';

/** Stands before each letter from outside that might become a part of a special token: a noncharacter, which no text has (Unicode 23.7). */
const MARK = '\ufdd0';

/** Text from an agent, a user or a tool on its way through a chat template. */
export interface OutsideText {
  /** The text with marks where letters of its own might be taken for a special token or a part of one. Most texts have no such letter. */
  readonly mark: (text: string) => string;
  /** The ids of a text with marked parts; marks are none of it. */
  readonly encode: (marked: string) => readonly number[];
}

/** How text from outside is put into a chat tokenizer: no special token, and no end of a turn, is made of what was only written. */
export function outsideText(codec: Codec): OutsideText {
  const control = controlTexts(codec);
  return {
    mark: (text) => {
      const plain = text.replaceAll(MARK, '\ufffd');
      const normal = plain.normalize('NFC');
      const risky = riskyLetters(plain, control);
      // letters that only normalization makes: all are marked, for they stand elsewhere
      const all = normal !== plain && riskyLetters(normal, control).size > 0;
      if (!all && risky.size === 0) return plain;
      let [marked, at] = ['', 0];
      for (const letter of plain) {
        marked += all || risky.has(at) ? MARK + letter : letter;
        at += letter.length;
      }
      return marked;
    },
    encode: (marked) => {
      if (!marked.includes(MARK)) return codec.encode(marked);
      const outside: Span[] = [];
      let text = '';
      let next = false;
      for (const letter of marked) {
        if (letter === MARK) next = true;
        else {
          const last = outside.at(-1);
          const begin = last?.[1] === text.length ? last[0] : text.length;
          if (next && begin < text.length) outside.pop();
          if (next) outside.push([begin, text.length + letter.length]);
          text += letter;
          next = false;
        }
      }
      return codec.encode(text, outside);
    },
  };
}

/** The texts of a codec's special tokens and ends of turns. */
export function controlTexts(codec: Codec): readonly string[] {
  const ids = new Set([...codec.special, ...codec.stops]);
  return [...ids].map((id) => codec.decode([id])).filter((text) => text !== '');
}

/** Places of the letters that are in a token's text, or at an end where what stands beside might complete one. */
function riskyLetters(text: string, control: readonly string[]): ReadonlySet<number> {
  const risky = new Set<number>();
  const take = (from: number, to: number) => {
    for (let at = from; at < to; at++) risky.add(at);
  };
  for (const token of control) {
    for (let at = text.indexOf(token); at >= 0; at = text.indexOf(token, at + 1)) take(at, at + token.length);
    for (let length = Math.min(token.length - 1, text.length); length > 0; length--) {
      if (text.endsWith(token.slice(0, length))) take(text.length - length, text.length);
      if (text.startsWith(token.slice(-length))) take(0, length);
    }
  }
  return risky;
}
