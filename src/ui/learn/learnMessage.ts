import { fill } from './texts/fill.ts';
import type { Texts } from './texts/shape.ts';
import type { Words } from './texts/en/words.ts';

/** A sentence of the catalogue, and what stands in its places: text, numbers, or other sentences of it. */
export interface LearnMessage {
  readonly word: keyof Words;
  readonly values?: Readonly<Record<string, string | number | LearnMessage>>;
}

/** The sentence in the words of a language. */
export function sentenceOf(texts: Pick<Texts, 'words' | 'decimal'>, { word, values = {} }: LearnMessage): string {
  const filled = Object.entries(values).map(([name, value]) => {
    return [name, typeof value === 'object' ? sentenceOf(texts, value) : value] as const;
  });
  return fill(texts.words[word], Object.fromEntries(filled), texts.decimal);
}

/** What Learn cannot do or read, and why, in words of its catalogue; its message is for the console. */
export class ExerciseError extends RangeError {
  readonly said: LearnMessage;

  constructor(said: LearnMessage) {
    super(`Learn: ${JSON.stringify(said)}`);
    this.said = said;
  }
}
