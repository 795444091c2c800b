import type { Codec } from './codec.ts';
import type { Span } from './textFinder.ts';

/**
 * Marks the next character as coming from outside, if it might become part of a special token. It is a noncharacter,
 * which real text doesn't contain (Unicode 23.7).
 */
const MARK = '\ufdd0';

/**
 * Passes text from outside (of an agent, a user or a tool) through a chat template without letting it become special
 * tokens.
 */
export interface OutsideText {
  /**
   * Puts marks before the characters that might be taken for a special token or part of one. Most texts have no such
   * character.
   */
  readonly mark: (text: string) => string;
  /** Encodes a text with marks. The marks themselves are not encoded. */
  readonly encode: (marked: string) => readonly number[];
}

/** Makes the functions for text from outside, so that it never becomes a special token and never ends a turn. */
export function outsideText(codec: Codec): OutsideText {
  const control = controlTexts(codec);
  return {
    mark: (text) => {
      const plain = text.replaceAll(MARK, '\ufffd');
      const normalized = plain.normalize('NFC');
      const risky = riskyOffsets(plain, control);
      // if the normalized text has risky characters, all characters are marked, because normalization moves places
      const marksAll = normalized !== plain && riskyOffsets(normalized, control).size > 0;
      if (!marksAll && risky.size === 0) return plain;
      let [marked, at] = ['', 0];
      for (const character of plain) {
        marked += marksAll || risky.has(at) ? MARK + character : character;
        at += character.length;
      }
      return marked;
    },
    encode: (marked) => {
      if (!marked.includes(MARK)) return codec.encode(marked);
      const spans: Span[] = [];
      let text = '';
      let isOutside = false;
      for (const character of marked) {
        if (character === MARK) isOutside = true;
        else {
          const last = spans.at(-1);
          const begin = last?.[1] === text.length ? last[0] : text.length;
          if (isOutside && begin < text.length) spans.pop();
          if (isOutside) spans.push([begin, text.length + character.length]);
          text += character;
          isOutside = false;
        }
      }
      return codec.encode(text, spans);
    },
  };
}

/** The texts of a codec's special tokens and ends of turns. */
export function controlTexts(codec: Codec): readonly string[] {
  const ids = new Set([...codec.special, ...codec.stops]);
  return [...ids].map((id) => codec.decode([id])).filter((text) => text !== '');
}

/**
 * The places of characters that belong to the text of a control token, or that stand at an end of `text` where adjacent
 * text might complete such a token.
 */
function riskyOffsets(text: string, control: readonly string[]): ReadonlySet<number> {
  const risky = new Set<number>();
  const markRisky = (from: number, to: number) => {
    for (let at = from; at < to; at++) risky.add(at);
  };
  for (const token of control) {
    for (let at = text.indexOf(token); at >= 0; at = text.indexOf(token, at + 1)) markRisky(at, at + token.length);
    for (let length = Math.min(token.length - 1, text.length); length > 0; length--) {
      if (text.endsWith(token.slice(0, length))) markRisky(text.length - length, text.length);
      if (text.startsWith(token.slice(-length))) markRisky(0, length);
    }
  }
  return risky;
}

/** The tags of a turn. A person may type them, even if they are special tokens. */
const TAG = /(<\/?(?:tool_call|think|answer)>)/;

/**
 * Encodes a turn that a person types in the agent's place, with a stop id at the end. JSON alone is put between the
 * tags of a call. Apart from tags, typed text never becomes a special token. Throws RangeError if the turn has more
 * than `budget` tokens.
 */
export function typedTurn(codec: Codec, typed: string, budget: number): readonly number[] {
  const text = /^\s*\{[\s\S]*\}\s*$/.test(typed) ? `<tool_call>\n${typed.trim()}\n</tool_call>` : typed;
  const stop = codec.stops[0];
  const outside = outsideText(codec);
  const markedParts = text.split(TAG).map((part, i) => (i % 2 === 1 ? part : outside.mark(part)));
  const ids = [...outside.encode(markedParts.join('')), ...(stop === undefined ? [] : [stop])];
  if (ids.length <= budget) return ids;
  throw new RangeError(`The turn has ${ids.length} tokens, and at most ${budget} fit. Say it in fewer words.`);
}
