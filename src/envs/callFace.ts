import type { CallValues } from '../text/turnFormat.ts';
import type { TextFace } from './textFace.ts';

/**
 * The face of an environment whose words are texts already: a call in words is the tool's name and its arguments as JSON, and an
 * answer or an observation is one word that holds a whole text.
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

/** As much of a text as fits, with a mark at its end if that isn't all of it. */
export function fitting(text: string, fits: (part: string) => boolean): string {
  if (fits(text)) return text;
  const letters = Array.from(text);
  let [some, all] = [0, letters.length];
  while (some < all) {
    const half = Math.ceil((some + all) / 2);
    if (fits(`${letters.slice(0, half).join('')}…`)) some = half;
    else all = half - 1;
  }
  return `${letters.slice(0, some).join('')}…`;
}
