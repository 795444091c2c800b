import type { ModelConfig } from '../architecture.ts';
import type { Sampling } from '../decoding.ts';
import type { AppendedIds, DrawLimits, DrawnText, LikeliestTokens, MemoryPart, TextModel } from '../textModel.ts';
import { RowTexts } from '../rowTexts.ts';
import { sharedBeginnings } from '../sharedBeginnings.ts';
import type { WeightSource } from '../weightSource.ts';
import { uniform } from '../../base/rng.ts';
import { logprobOf, type NextToken } from './nextToken.ts';
import { loadForwardTensors, type Matrix, packedProducts } from './packedWeights.ts';
import type { Real } from '../learning/real.ts';
import { openArithmetic } from './timedArithmetic.ts';
import { releaseSlots, shareSlots, takeSlots } from './slotCache.ts';
import { nameWhenStarted, type Team } from './team/team.ts';
import { type CpuTextModelOptions, textModelMemory, textModelSizes } from './textMemory.ts';
import { type NewTokens, TextNetwork } from './textNetwork.ts';
import { drawText, likeliestIds } from './textSampler.ts';

export type { CpuTextModelOptions } from './textMemory.ts';

/**
 * Opens a language model on the CPU, to read texts and to draw from. Weights stay packed if there is a matrix product
 * for their format. Throws BackendError before anything is read if the model needs too much memory, and ProblemError
 * with file and tensor if its weights can't be read.
 */
export async function openCpuTextModel(
  model: ModelConfig,
  source: WeightSource,
  options: CpuTextModelOptions,
): Promise<TextModel> {
  const modelSizes = textModelSizes(model, options);
  const memory = textModelMemory(model, source, modelSizes);
  const bytes = memory.reduce((sum, memoryPart) => sum + memoryPart.bytes, 0);
  const { packedKernels, ...unpacked } = openArithmetic(model, bytes, options.loops, {
    threads: options.threads,
    rounding: 'fused',
  });
  const arithmetic = packedKernels && modelSizes.packedWeights ? { ...unpacked, packedKernels } : unpacked;
  try {
    const network = new TextNetwork(
      arithmetic,
      await loadForwardTensors(arithmetic, source),
      packedProducts(arithmetic, modelSizes.tokens),
      modelSizes,
    );
    const hidden = arithmetic.reals(modelSizes.rows * model.hidden_size);
    const backend = await nameWhenStarted(arithmetic);
    return new CpuTextModel(network, hidden, modelSizes.length, backend, memory, arithmetic.team);
  } catch (error) {
    arithmetic.team?.close();
    throw error;
  }
}

/** The temperature for log-probabilities that are only reported, not used to draw. */
const UNTEMPERED = 1;

class CpuTextModel implements TextModel {
  readonly model: ModelConfig;
  readonly backend: string;
  readonly rows: number;
  readonly length: number;
  readonly memory: readonly MemoryPart[];
  readonly #texts: RowTexts; // tokens past a row's count in the cache haven't run yet
  readonly #hidden: Real; // (B, d) the final hidden state after each row's text, once all of the text has run
  readonly #team: Team | undefined;
  #network: TextNetwork<Matrix> | null;

  constructor(
    network: TextNetwork<Matrix>,
    hidden: Real,
    length: number,
    backend: string,
    memory: readonly MemoryPart[],
    team: Team | undefined,
  ) {
    this.model = network.model;
    this.backend = backend;
    this.rows = network.cache.cachedCounts.length;
    this.length = length;
    this.memory = memory;
    this.#texts = new RowTexts(this.rows, length, network.model.vocab_size);
    this.#hidden = hidden;
    this.#network = network;
    this.#team = team;
  }

  async begin(texts: readonly (readonly number[])[]): Promise<void> {
    const { cache } = this.#open();
    const { hidden_size: d } = this.model;
    this.#texts.checkBegin(texts);
    const plan = sharedBeginnings(texts);
    const tokensToRun = plan.reduce((sum, { row, shared }) => sum + texts[row]!.length - shared, 0);
    this.#checkFreeSlots('begin', tokensToRun, cache.useCounts.length);
    for (let row = 0; row < this.rows; row++) releaseSlots(cache, row, 0);
    this.#texts.begin(texts);
    const newTokens = plan.map(({ row, likeRow, shared }) => {
      shareSlots(cache, likeRow, row, shared);
      return this.#newTokens(row);
    });
    this.#run(newTokens);
    for (const { row, likeRow, shared } of plan) {
      const isWholeTextShared = shared > 0 && shared === this.#texts.textOf(row).length;
      if (isWholeTextShared) this.#hidden.copyWithin(row * d, likeRow * d, (likeRow + 1) * d);
    }
    await Promise.resolve();
  }

  textLength(row: number): number {
    return this.#texts.textOf(row).length;
  }

  keep(row: number, count: number): void {
    const { cache } = this.#open();
    if (count === this.textLength(row)) return;
    this.#texts.keep(row, count);
    // the last token runs again when its hidden state is asked for
    releaseSlots(cache, row, count - 1);
  }

  async append(appended: readonly AppendedIds[]): Promise<void> {
    this.#texts.checkAppend(appended);
    const rows = [...new Set(appended.map(({ row }) => row))];
    this.#checkFreeSlots('append', this.#pending(rows) + appended.reduce((sum, { ids }) => sum + ids.length, 0));
    for (const { row, ids } of appended) this.#texts.extend(row, ids);
    this.#advance(rows);
    await Promise.resolve();
  }

  async draw(rows: readonly number[], limits: DrawLimits, sampling: Sampling): Promise<readonly DrawnText[]> {
    this.#texts.checkRows(rows);
    const { maxTokens, stops } = limits;
    if (!Number.isInteger(maxTokens) || maxTokens < 0)
      throw new RangeError(`draw: ${maxTokens} steps are not a whole number from 0.`);
    if (!(sampling.temperature > 0)) {
      throw new RangeError(
        `draw: the temperature ${sampling.temperature} must be above 0. For the likeliest token, set greedy.`,
      );
    }
    const drawnTexts = rows.map((row) => {
      const remaining = Math.min(maxTokens, this.#texts.freeTokens(row));
      return { row, remaining: remaining, ids: [] as number[], logprobs: [] as number[], stopped: false };
    });
    // the last drawn token of a row runs only when more tokens follow, so it needs no slot yet
    this.#checkFreeSlots(
      'draw',
      this.#pending(rows) + drawnTexts.reduce((sum, { remaining }) => sum + Math.max(0, remaining - 1), 0),
    );
    let active = drawnTexts.filter(({ remaining }) => remaining > 0);
    while (active.length > 0) {
      const drawing = active;
      this.#advance(drawing.map(({ row }) => row));
      this.#head(
        drawing.map(({ row }) => row),
        sampling.temperature,
        (i, next) => {
          const drawnText = drawing[i]!;
          const position = this.textLength(drawnText.row);
          const id = drawText(next, sampling, uniform(sampling.key, sampling.update, drawnText.row, position));
          this.#texts.extend(drawnText.row, [id]);
          drawnText.ids.push(id);
          drawnText.logprobs.push(logprobOf(next, id));
          drawnText.stopped = stops.includes(id);
          drawnText.remaining = drawnText.stopped ? 0 : drawnText.remaining - 1;
        },
      );
      active = drawing.filter(({ remaining }) => remaining > 0);
    }
    return Promise.resolve(drawnTexts.map(({ row, ids, logprobs, stopped }) => ({ row, ids, logprobs, stopped })));
  }

  async likeliest(rows: readonly number[], count: number): Promise<readonly LikeliestTokens[]> {
    this.#texts.checkRows(rows);
    if (!Number.isInteger(count) || count < 1 || count > this.model.vocab_size) {
      throw new RangeError(`likeliest: ${count} tokens can’t be listed. Ask for 1 to ${this.model.vocab_size}.`);
    }
    this.#checkFreeSlots('likeliest', this.#pending(rows));
    this.#advance(rows);
    const result: LikeliestTokens[] = [];
    this.#head(rows, UNTEMPERED, (_, next) => {
      const ids = likeliestIds(next, count);
      result.push({ ids, logprobs: ids.map((id) => logprobOf(next, id)) });
    });
    return Promise.resolve(result);
  }

  async score(row: number, ids: readonly number[]): Promise<readonly number[]> {
    this.#texts.checkScore(row, ids);
    if (ids.length === 0) return [];
    this.#checkFreeSlots('score', this.#pending([row]) + ids.length - 1);
    const network = this.#open();
    this.#advance([row]);
    const logprobs: number[] = [];
    this.#head([row], UNTEMPERED, (_, next) => logprobs.push(logprobOf(next, ids[0]!)));
    const begin = this.#texts.textOf(row).length;
    takeSlots(network.cache, row, ids.length - 1);
    network.run([{ row, start: begin, ids: ids.slice(0, -1) }], (tokens, hidden) => {
      const allIndices = Int32Array.from(tokens, (_, i) => i);
      network.head(hidden, allIndices, UNTEMPERED, (_, next) => logprobs.push(logprobOf(next, ids[logprobs.length]!)));
    });
    releaseSlots(network.cache, row, begin);
    return Promise.resolve(logprobs);
  }

  destroy(): void {
    this.#network = null;
    this.#team?.close();
  }

  #advance(rows: readonly number[]): void {
    this.#run(rows.map((row) => this.#newTokens(row)));
  }

  /** Returns the tokens of a row that haven't run yet, and takes cache slots for them. */
  #newTokens(row: number): NewTokens {
    const { cache } = this.#open();
    const start = cache.cachedCounts[row]!;
    const ids = this.#texts.textOf(row).slice(start);
    takeSlots(cache, row, ids.length);
    return { row, start: start, ids };
  }

  #run(newTokens: readonly NewTokens[]): void {
    const { hidden_size: d } = this.model;
    this.#open().run(newTokens, (tokens, hidden) => {
      for (const [i, { row, position }] of tokens.entries()) {
        const isLast = position === this.#texts.textOf(row).length - 1;
        if (isLast) this.#hidden.set(hidden.subarray(i * d, (i + 1) * d), row * d);
      }
    });
  }

  #head(rows: readonly number[], temperature: number, onPrediction: (index: number, next: NextToken) => void): void {
    this.#open().head(this.#hidden, Int32Array.from(rows), temperature, onPrediction);
  }

  #open(): TextNetwork<Matrix> {
    if (this.#network) return this.#network;
    throw new Error('The model is closed. Open it again.');
  }

  #pending(rows: readonly number[]): number {
    const { cachedCounts } = this.#open().cache;
    return rows.reduce((sum, row) => sum + this.#texts.textOf(row).length - cachedCounts[row]!, 0);
  }

  #checkFreeSlots(method: string, tokens: number, free = this.#open().cache.freeSlots.length): void {
    if (tokens <= free) return;
    throw new RangeError(
      `${method}: there is room for ${free} more tokens, and ${tokens} are needed. Open the model with more cached tokens, or draw fewer steps or rows.`,
    );
  }
}
