import type { ChatTemplate } from '../text/chatTemplate.ts';
import type { Codec } from '../text/codec.ts';
import { type Dialect, textAfterTurn } from '../text/dialect.ts';
import type { Message } from '../text/message.ts';
import { outsideText } from '../text/outsideText.ts';

/** Has no tools. Ids are only appended: tokens that the model drew are never encoded again. */
export interface Chat {
  readonly stops: readonly number[]; // ids that end the model's turn
  /** The ids before the model's first turn. */
  readonly openingIds: (system: string, text: string) => readonly number[];
  /** The ids from the end of the model's turn to the start of its next. `stopped`: the turn already ends with a stop id. */
  readonly followingIds: (text: string, stopped: boolean) => readonly number[];
}

/** A person's text gives no special tokens. Without a template it just goes on. The methods throw ProblemError if it rejects messages. */
export function chatOf(codec: Codec, template: ChatTemplate | null): Chat {
  const { stops } = codec;
  const outside = outsideText(codec);
  if (!template) {
    const encodeText = (text: string) => outside.encode(outside.mark(text));
    const openingIds = (system: string, text: string) => encodeText(system === '' ? text : `${system}\n\n${text}`);
    return { stops, openingIds, followingIds: encodeText };
  }
  const user = (content: string): Message => ({ role: 'user', content });
  const dialect: Dialect = {
    startMessages: ({ system, question }) => [...(system ? [{ role: 'system', content: system }] : []), user(question)],
    observationMessage: user,
    tools: null,
  };
  const stopTexts = stops.map((id) => codec.decode([id]));
  return {
    stops,
    openingIds: (system, question) => {
      const beginning = { system: outside.mark(system), question: outside.mark(question) };
      return outside.encode(template.write(dialect.startMessages(beginning), null, true));
    },
    followingIds: (text, stopped) => {
      const followingText = textAfterTurn(template, dialect, outside.mark(text));
      const stopText = stopTexts.find((each) => each !== '' && followingText.startsWith(each)) ?? '';
      return outside.encode(stopped ? followingText.slice(stopText.length) : followingText);
    },
  };
}
