import { Role } from '../domain/tokens.ts';
import type { PauseReason, WriteOptions } from '../wire/speakerMessages.ts';
import type { Chat } from './chat.ts';
import type { OnWrote, Writer } from './writer.ts';

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
