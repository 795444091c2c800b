import type { CallValues } from '../text/turnFormat.ts';
import type { TextFace } from './textFace.ts';

/** The words are texts: a call is the tool's name and its arguments as JSON; an answer or observation is a word with a whole text. */
export function callFace({
  system,
  tools,
  longestTexts,
}: Pick<TextFace, 'system' | 'tools' | 'longestTexts'>): TextFace {
  return {
    ...{ system, tools, longestTexts },
    question: (_, question) => question,
    callWords: (values, _, tool) => [tool, JSON.stringify(values)],
    call: ([tool = '', json = '{}']) => ({ tool, values: JSON.parse(json) as CallValues }),
    answerWords: (text) => [text],
    answerText: (words) => words.join(' '),
    observation: (words) => words.join(' '),
  };
}

/** Returns as much of a text as fits, ending in “…” if it was cut. */
export function cutToFit(text: string, fitsLimit: (part: string) => boolean): string {
  if (fitsLimit(text)) return text;
  const characters = Array.from(text);
  let [low, high] = [0, characters.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fitsLimit(`${characters.slice(0, middle).join('')}…`)) low = middle;
    else high = middle - 1;
  }
  return `${characters.slice(0, low).join('')}…`;
}
