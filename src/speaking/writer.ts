import { Purpose, streamKey } from '../base/rng.ts';
import { Role } from '../domain/tokens.ts';
import type { TextModel } from '../model/textModel.ts';
import { type Codec, shownToken } from '../text/codec.ts';
import type { LikelyToken, SpokenToken, WriteOptions } from '../wire/speakerMessages.ts';

/** Number of given tokens that are read at once. After each chunk, writing can be stopped. */
const CHUNK_TOKENS = 64;
/** Number of likely alternatives that are kept with each token. */
const LIKELY_COUNT = 20;

/** Called with each new piece of text, which begins at token `from`. If it resolves to false, writing stops. */
export type OnWrote = (from: number, tokens: readonly SpokenToken[]) => Promise<boolean>;

/** Keeps the author of each token and the likely alternatives to it. The ids are always those of row 0 of the model. */
export class Writer {
  readonly model: TextModel;
  readonly codec: Codec;
  readonly #written: SpokenToken[] = [];
  #decoder = new TextDecoder('utf-8', { ignoreBOM: true });

  constructor(model: TextModel, codec: Codec) {
    this.model = model;
    this.codec = codec;
  }

  get written(): readonly SpokenToken[] {
    return this.#written;
  }

  get freeTokens(): number {
    return this.model.length - this.#written.length;
  }

  truncate(count: number): void {
    if (count > 0 && count < this.#written.length) this.model.keep(0, count);
    this.#written.length = Math.min(count, this.#written.length);
    this.#decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  }

  /** Appends given ids, in chunks. Throws RangeError if they don't fit. Returns whether writing may continue. */
  async append(ids: readonly number[], role: Role, turn: number, onWrote: OnWrote): Promise<boolean> {
    if (ids.length > this.freeTokens) {
      throw new RangeError(
        `The text has ${this.#written.length} tokens, and ${ids.length} more don’t fit: the limit is ${this.model.length}. Open the model for longer texts, or say less.`,
      );
    }
    let mayContinue = true;
    for (let at = 0; at < ids.length; at += CHUNK_TOKENS) {
      const chunk = ids.slice(at, at + CHUNK_TOKENS);
      const from = this.#written.length;
      await (from === 0 ? this.model.begin([chunk]) : this.model.append([{ row: 0, ids: chunk }]));
      for (const id of chunk) this.#addToken(id, role, turn, null, null);
      // even if writing is to stop, all given ids are appended, because the model would read what follows differently
      mayContinue = (await onWrote(from, this.#written.slice(from))) && mayContinue;
    }
    return mayContinue;
  }

  async draw({ sampling, seed }: WriteOptions, turn: number, stops: readonly number[]): Promise<SpokenToken> {
    const likely = await this.likelyTokens();
    const drawing = { ...sampling, key: streamKey(seed, Purpose.branch), update: 0 };
    const [drawnTokens] = await this.model.draw([0], { maxTokens: 1, stops }, drawing);
    const id = drawnTokens?.ids[0];
    if (id === undefined) throw new Error(`The model drew nothing after ${this.#written.length} tokens.`);
    const known = likely.find((token) => token.id === id)?.logprob;
    const untempered = sampling.temperature === 1 && !sampling.greedy ? (drawnTokens?.logprobs[0] ?? null) : null;
    return this.#addToken(id, Role.action, turn, likely, known ?? untempered);
  }

  /** Writes a token that a person chose in the model's place. */
  async choose(id: number, turn: number): Promise<SpokenToken> {
    const likely = await this.likelyTokens();
    const logprob = likely.find((token) => token.id === id)?.logprob ?? (await this.model.score(0, [id]))[0] ?? null;
    await this.model.append([{ row: 0, ids: [id] }]);
    return this.#addToken(id, Role.action, turn, likely, logprob);
  }

  async likelyTokens(): Promise<readonly LikelyToken[]> {
    const [next] = await this.model.likeliest([0], LIKELY_COUNT);
    if (!next) return [];
    return next.ids.map((id, i) => ({ id, shown: shownToken(this.codec, id), logprob: next.logprobs[i] ?? -Infinity }));
  }

  #addToken(id: number, role: Role, turn: number, likely: SpokenToken['likely'], logprob: number | null): SpokenToken {
    const last = this.#written.at(-1);
    // a character that is split into several tokens can't have several authors
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
