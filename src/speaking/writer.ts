import { Purpose, streamKey } from '../base/rng.ts';
import { Role } from '../domain/tokens.ts';
import type { TextModel } from '../model/textModel.ts';
import { type Codec, shownToken } from '../text/codec.ts';
import type { LikelyToken, SpokenToken, Writing } from '../wire/speakerMessages.ts';

/** Tokens that are read between two looks at whether to stop. */
const CHUNK = 64;
/** How many of what could have stood there are kept with each token. */
const LIKELIEST = 20;

/** Who is told of each piece of text; false ends what is under way. */
export type OnWrote = (from: number, tokens: readonly SpokenToken[]) => Promise<boolean>;

/**
 * One text of a model with all that is known of its tokens: who wrote each, and what the model might have drawn in its place. The model's
 * row 0 and the record are always the same ids.
 */
export class Writer {
  readonly model: TextModel;
  readonly codec: Codec;
  readonly #written: SpokenToken[] = [];
  #decoder = new TextDecoder('utf-8', { ignoreBOM: true });

  constructor(model: TextModel, codec: Codec) {
    this.model = model;
    this.codec = codec;
  }

  /** The text so far. */
  get written(): readonly SpokenToken[] {
    return this.#written;
  }

  /** Tokens that fit. */
  get room(): number {
    return this.model.length - this.#written.length;
  }

  /** Removes the text from token `count` on. */
  keep(count: number): void {
    if (count > 0 && count < this.#written.length) this.model.keep(0, count);
    this.#written.length = Math.min(count, this.#written.length);
    this.#decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  }

  /** Appends given ids, in pieces. Throws RangeError if they do not fit. Returns whether writing may continue. */
  async force(ids: readonly number[], role: Role, turn: number, onWrote: OnWrote): Promise<boolean> {
    if (ids.length > this.room) {
      throw new RangeError(
        `The text has ${this.#written.length} tokens, and ${ids.length} more don’t fit: the limit is ${this.model.length}. Open the model for longer texts, or say less.`,
      );
    }
    let goOn = true;
    for (let at = 0; at < ids.length; at += CHUNK) {
      const some = ids.slice(at, at + CHUNK);
      const from = this.#written.length;
      await (from === 0 ? this.model.begin([some]) : this.model.append([{ row: 0, ids: some }]));
      for (const id of some) this.#note(id, role, turn, null, null);
      // a text is never left in the middle of what is forced: what follows would be read otherwise
      goOn = (await onWrote(from, this.#written.slice(from))) && goOn;
    }
    return goOn;
  }

  /** Draws the next token of the model's own. */
  async draw({ sampling, seed }: Writing, turn: number, stops: readonly number[]): Promise<SpokenToken> {
    const likely = await this.likely();
    const drawing = { ...sampling, key: streamKey(seed, Purpose.branch), update: 0 };
    const [drawn] = await this.model.draw([0], { steps: 1, stops }, drawing);
    const id = drawn?.ids[0];
    if (id === undefined) throw new Error(`The model drew nothing after ${this.#written.length} tokens.`);
    const known = likely.find((token) => token.id === id)?.logprob;
    const untempered = sampling.temperature === 1 && !sampling.greedy ? (drawn?.logprobs[0] ?? null) : null;
    return this.#note(id, Role.action, turn, likely, known ?? untempered);
  }

  /** Writes a token that a person chose in the model's place. */
  async choose(id: number, turn: number): Promise<SpokenToken> {
    const likely = await this.likely();
    const logprob = likely.find((token) => token.id === id)?.logprob ?? (await this.model.score(0, [id]))[0] ?? null;
    await this.model.append([{ row: 0, ids: [id] }]);
    return this.#note(id, Role.action, turn, likely, logprob);
  }

  /** What could stand next. */
  async likely(): Promise<readonly LikelyToken[]> {
    const [next] = await this.model.likeliest([0], LIKELIEST);
    if (!next) return [];
    return next.ids.map((id, i) => ({ id, shown: shownToken(this.codec, id), logprob: next.logprobs[i] ?? -Infinity }));
  }

  #note(id: number, role: Role, turn: number, likely: SpokenToken['likely'], logprob: number | null): SpokenToken {
    const last = this.#written.at(-1);
    // a letter in pieces belongs to one writer
    if (last && (last.role !== role || last.turn !== turn))
      this.#decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    const { codec } = this;
    const text =
      codec.kind === 'words' ? `${codec.decode([id])} ` : this.#decoder.decode(codec.bytes(id), { stream: true });
    const special = codec.special.has(id);
    const token = { id, text, shown: shownToken(codec, id), special, role, turn, likely, logprob };
    this.#written.push(token);
    return token;
  }
}
