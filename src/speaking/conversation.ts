import { Role } from '../domain/tokens.ts';
import type { PauseReason, WriteOptions } from '../wire/speakerMessages.ts';
import type { OnWrote, Writer } from './writer.ts';
import type { ChatTemplate, Message } from '../text/chatTemplate.ts';
import type { Codec } from '../text/codec.ts';
import { type Dialect, textAfterTurn } from '../text/dialect.ts';
import { outsideText } from '../text/outsideText.ts';

/** Has no tools. Ids are only appended: tokens that the model drew are never encoded again. */
interface Chat {
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

/** A conversation between a person and a model. Earlier turns keep the token ids that were drawn. */
export class Conversation {
  readonly #writer: Writer;
  readonly #chat: Chat;

  constructor(writer: Writer, chat: Chat) {
    this.#writer = writer;
    this.#chat = chat;
  }

  /** `system` is used only before the first text. Throws RangeError if the text does not fit; then nothing has changed. */
  async say(system: string, text: string, writing: WriteOptions, onWrote: OnWrote): Promise<PauseReason> {
    const { written } = this.#writer;
    const last = written.at(-1);
    const hasStop = last?.role === Role.action && this.#chat.stops.includes(last.id);
    const ids = last ? this.#chat.followingIds(text, hasStop) : this.#chat.openingIds(system, text);
    const turn = last?.turn ?? 0;
    const mayContinue = await this.#writer.append(ids, Role.prompt, turn, onWrote);
    return mayContinue ? this.#draw(turn + 1, writing, onWrote) : 'stopped';
  }

  /** The model continues its turn from the new token. Throws RangeError if the token at index `at` is not the model's. */
  async replaceToken(at: number, token: number, writing: WriteOptions, onWrote: OnWrote): Promise<PauseReason> {
    const replaced = this.#writer.written[at];
    if (replaced?.role !== Role.action) {
      throw new RangeError(`Token ${at} isn’t one that the model drew. Choose a token of the model.`);
    }
    this.#writer.truncate(at);
    const chosen = await this.#writer.choose(token, replaced.turn);
    const mayContinue = await onWrote(at, [chosen]);
    if (this.#chat.stops.includes(token)) return 'turn';
    return mayContinue ? this.#draw(replaced.turn, writing, onWrote) : 'stopped';
  }

  async #draw(turn: number, writing: WriteOptions, onWrote: OnWrote): Promise<PauseReason> {
    for (let step = 0; step < writing.steps; step++) {
      if (this.#writer.freeTokens === 0) return 'full';
      const token = await this.#writer.draw(writing, turn, this.#chat.stops);
      const mayContinue = await onWrote(this.#writer.written.length - 1, [token]);
      if (this.#chat.stops.includes(token.id)) return 'turn';
      if (!mayContinue) return 'stopped';
    }
    return 'steps';
  }
}
