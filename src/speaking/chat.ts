import type { ChatTemplate } from '../text/chatTemplate.ts';
import type { Codec } from '../text/codec.ts';
import { type Dialect, following } from '../text/dialect.ts';
import type { Message } from '../text/message.ts';
import { outsideText } from '../text/outsideText.ts';

/**
 * Writes a conversation without tools as token ids. Ids are only appended: tokens that the model drew are never encoded
 * again.
 */
export interface Chat {
  readonly stops: readonly number[]; // ids that end the model's turn
  /** The ids before the model's first turn. */
  readonly begins: (system: string, text: string) => readonly number[];
  /**
   * The ids from the end of the model's turn to the start of its next turn. `stopped`: the turn already ends with a
   * stop id.
   */
  readonly follows: (text: string, stopped: boolean) => readonly number[];
}

/**
 * Creates the chat of a checkpoint. A person's text is never encoded as a special token. Without a template the model
 * just continues the text. `begins` and `follows` throw ProblemError if the template rejects the messages.
 */
export function chatOf(codec: Codec, template: ChatTemplate | null): Chat {
  const { stops } = codec;
  const outside = outsideText(codec);
  if (!template) {
    const plain = (text: string) => outside.encode(outside.mark(text));
    const begins = (system: string, text: string) => plain(system === '' ? text : `${system}\n\n${text}`);
    return { stops, begins, follows: plain };
  }
  const user = (content: string): Message => ({ role: 'user', content });
  const dialect: Dialect = {
    begins: ({ system, question }) => [...(system ? [{ role: 'system', content: system }] : []), user(question)],
    observes: user,
    tools: null,
  };
  const stopTexts = stops.map((id) => codec.decode([id]));
  return {
    stops,
    begins: (system, question) => {
      const beginning = { system: outside.mark(system), question: outside.mark(question) };
      return outside.encode(template.write(dialect.begins(beginning), null, true));
    },
    follows: (text, stopped) => {
      const after = following(template, dialect, outside.mark(text));
      const end = stopTexts.find((each) => each !== '' && after.startsWith(each)) ?? '';
      return outside.encode(stopped ? after.slice(end.length) : after);
    },
  };
}
