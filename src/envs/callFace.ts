import type { CallValues } from '../text/turnFormat.ts';
import type { TextFace } from './textFace.ts';

/**
 * Makes the face of an environment whose words are texts. A call in words is the tool's name and its arguments as JSON.
 * An answer or an observation is a single word that holds a whole text.
 */
export function callFace({ system, tools, longest }: Pick<TextFace, 'system' | 'tools' | 'longest'>): TextFace {
  return {
    ...{ system, tools, longest },
    question: (_, question) => question,
    callWords: (values, _, tool) => [tool, JSON.stringify(values)],
    call: ([tool = '', json = '{}']) => ({ tool, values: JSON.parse(json) as CallValues }),
    answerWords: (text) => [text],
    answerText: (words) => words.join(' '),
    observation: (words) => words.join(' '),
  };
}

/** Returns as much of a text as fits, ending in “…” if it was cut. */
export function fitting(text: string, fits: (part: string) => boolean): string {
  if (fits(text)) return text;
  const characters = Array.from(text);
  let [low, high] = [0, characters.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(`${characters.slice(0, middle).join('')}…`)) low = middle;
    else high = middle - 1;
  }
  return `${characters.slice(0, low).join('')}…`;
}
