import type { LearnWord } from './learnWords.ts';

/** A sentence of Learn, with the values of its placeholders: text, numbers or other sentences. */
export interface LearnMessage {
  readonly word: LearnWord;
  readonly values?: Readonly<Record<string, string | number | LearnMessage>>;
}

/** Error of Learn: `reason` is the sentence to show, the error's own message is for the console. */
export class ExerciseError extends RangeError {
  readonly reason: LearnMessage;

  constructor(reason: LearnMessage) {
    super(`Learn: ${JSON.stringify(reason)}`);
    this.reason = reason;
  }
}
