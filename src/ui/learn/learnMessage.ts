import { fill } from './texts/fill.ts';
import type { Texts } from './texts/shape.ts';
import type { Words } from './texts/en/words.ts';

/** A sentence of the catalogue, with the values of its placeholders: text, numbers or other sentences. */
export interface LearnMessage {
  readonly word: keyof Words;
  readonly values?: Readonly<Record<string, string | number | LearnMessage>>;
}

/** The text of a message in a language. */
export function sentenceOf(texts: Pick<Texts, 'words' | 'decimal'>, { word, values = {} }: LearnMessage): string {
  const filled = Object.entries(values).map(([name, value]) => {
    return [name, typeof value === 'object' ? sentenceOf(texts, value) : value] as const;
  });
  return fill(texts.words[word], Object.fromEntries(filled), texts.decimal);
}

/** Error of Learn: `reason` is the sentence to show, the error's own message is for the console. */
export class ExerciseError extends RangeError {
  readonly reason: LearnMessage;

  constructor(reason: LearnMessage) {
    super(`Learn: ${JSON.stringify(reason)}`);
    this.reason = reason;
  }
}
