import { compile, type CompileProgress } from '../../../gpu/compile.ts';
import type { Gpu } from '../../../gpu/device.ts';
import { Pipelines } from '../../../gpu/pipelines.ts';
import { ShapeUniforms, type Recorder } from '../../../gpu/plan.ts';
import { Arena } from '../../../gpu/tensor.ts';
import { freeGrammar } from '../../../domain/tokens.ts';
import type { ModelConfig } from '../../architecture.ts';
import type { Sampling } from '../../decoding.ts';
import { BackendError, type EngineCounters } from '../../policy.ts';
import type { AppendedIds, DrawLimits, DrawnText, LikeliestTokens, MemoryPart, TextModel } from '../../textModel.ts';
import { RowTexts } from '../../rowTexts.ts';
import { sharedBeginnings } from '../../sharedBeginnings.ts';
import type { WeightSource } from '../../weightSource.ts';
import { openOnDevice, type DeviceOptions } from '../onDevice.ts';
import { loadText, type LoadProgress } from './load.ts';
import { entriesOf, recordPasses } from './passes.ts';
import { CachedRows } from './cachedRows.ts';
import { writeGrammar } from './grammarBits.ts';
import { Runner } from './runner.ts';
import { declareText, MAX_LIKELIEST, type TextCapacity, type TextTensors } from './textTensors.ts';

/** Tokens per row drawn between two read-backs: few, so that a person sees the text grow. */
const CHUNK_TOKENS = 16;

export interface GpuTextOptions extends TextCapacity, DeviceOptions {
  readonly loading?: LoadProgress;
  readonly compiling?: CompileProgress;
}

/**
 * Opens a language model on a GPU, to draw and score text. Weights in F32, F16, BF16, Q8_0, Q4_1 and Q4_0 stay packed
 * as they are; other formats are converted to F16. Throws NoGpuError without an adapter, BackendError if the model
 * cannot fit (before anything is allocated), ProblemError if its weights cannot be read, and DeviceLostError if the
 * device is lost meanwhile.
 */
export async function openGpuTextModel(
  gpu: GPU | undefined,
  model: ModelConfig,
  source: WeightSource,
  options: GpuTextOptions,
): Promise<GpuTextModel> {
  const open = async (device: Gpu) => {
    const arena = new Arena(device);
    const tensors = declareText(arena, device, model, source, options);
    await arena.allocate();
    const recorder = { gpu: device, pipelines: Pipelines.forDevice(device), shapes: new ShapeUniforms(device) };
    const textModel = new GpuTextModel(recorder, model, tensors, options);
    await compile(recorder, options.compiling, entriesOf(textModel.passes));
    const { length, loading: progress = () => undefined } = options;
    await loadText(device, model, source, tensors, { length, progress });
    return textModel;
  };
  const remedy = 'Use a smaller model, fewer rows or shorter texts.';
  return openOnDevice(gpu, options, open, ({ message }) => new BackendError(message, remedy));
}

/** Sampling settings for `likeliest`, which draws nothing. */
const NO_SAMPLING: Sampling = { key: 0, update: 0, temperature: 1, greedy: true, topK: 0, topP: 1 };

/** Make only one call at a time. */
export class GpuTextModel implements TextModel {
  readonly model: ModelConfig;
  readonly backend: string;
  readonly rows: number;
  readonly length: number;
  readonly memory: readonly MemoryPart[];
  readonly passes: ReturnType<typeof recordPasses>;
  readonly #recorder: Recorder;
  readonly #tensors: TextTensors;
  readonly #runner: Runner;
  readonly #texts: RowTexts;
  readonly #cached: CachedRows;

  /** Use `openGpuTextModel` instead: it also compiles the pipelines and loads the weights. */
  constructor(recorder: Recorder, model: ModelConfig, tensors: TextTensors, { rows, length }: TextCapacity) {
    this.model = model;
    this.backend = `WebGPU, ${recorder.gpu.adapter}`;
    this.rows = rows;
    this.length = length;
    this.memory = tensors.memory;
    this.passes = recordPasses(recorder, { model, tensors, rows, length });
    this.#recorder = recorder;
    this.#tensors = tensors;
    this.#runner = new Runner(recorder.gpu, tensors, this.passes);
    this.#texts = new RowTexts(rows, length, model.vocab_size);
    const textOf = (row: number) => this.#texts.textOf(row);
    this.#cached = new CachedRows(recorder.gpu, tensors, this.#runner, { rows, length, textOf });
  }

  async begin(texts: readonly (readonly number[])[]): Promise<void> {
    this.#texts.checkBegin(texts);
    // the last token of a text is not in the cache
    const plan = sharedBeginnings(texts.map((text) => text.slice(0, -1)));
    this.#checkPlaces(
      plan.reduce((sum, { row, shared }) => sum + texts[row]!.length - 1 - shared, 0),
      this.#tensors.cachePlaces,
    );
    this.#cached.clear();
    this.#texts.begin(texts);
    await this.#cache([...texts.keys()]);
  }

  textLength(row: number): number {
    return this.#texts.textOf(row).length;
  }

  keep(row: number, count: number): void {
    this.#texts.keep(row, count);
    this.#cached.release(row, count - 1);
  }

  async append(appended: readonly AppendedIds[]): Promise<void> {
    this.#texts.checkAppend(appended);
    this.#checkPlaces(appended.reduce((sum, { ids }) => sum + ids.length, 0));
    for (const { row, ids } of appended) this.#texts.extend(row, ids);
    await this.#cache([...new Set(appended.map(({ row }) => row))]);
  }

  async draw(rows: readonly number[], limits: DrawLimits, sampling: Sampling): Promise<readonly DrawnText[]> {
    this.#texts.checkRows(rows);
    this.#checkPlaces(rows.reduce((sum, row) => sum + Math.min(limits.maxTokens, this.#texts.freeTokens(row)), 0));
    this.#runner.configure(sampling, 0);
    writeGrammar(this.#recorder.gpu, this.#tensors, freeGrammar(this.model.vocab_size, limits.stops));
    const drawn = rows.map((row) => ({ row, ids: [] as number[], logprobs: [] as number[], stopped: false }));
    const stepsLeft = ({ row, ids, stopped }: (typeof drawn)[number]) =>
      stopped ? 0 : Math.min(limits.maxTokens - ids.length, this.#texts.freeTokens(row));
    for (;;) {
      const waiting = drawn.filter((one) => stepsLeft(one) > 0);
      if (waiting.length === 0) return drawn;
      const { update } = sampling;
      const chunk = await this.#cached.draw(
        waiting.map((one) => {
          const { row } = one;
          const limit = Math.min(CHUNK_TOKENS, stepsLeft(one));
          return { row, limit, state: 0, start: 0, counters: { update, rollout: row } };
        }),
      );
      for (const [i, one] of waiting.entries()) {
        this.#texts.extend(one.row, chunk[i]!.ids);
        one.ids.push(...chunk[i]!.ids);
        one.logprobs.push(...chunk[i]!.logprobs);
        one.stopped = limits.stops.includes(one.ids.at(-1) ?? -1);
      }
    }
  }

  async likeliest(rows: readonly number[], count: number): Promise<readonly LikeliestTokens[]> {
    this.#texts.checkRows(rows);
    const maxCount = Math.min(MAX_LIKELIEST, this.model.vocab_size);
    if (!Number.isInteger(count) || count < 1 || count > maxCount) {
      throw new RangeError(`likeliest: ${count} tokens can’t be listed. Ask for 1 to ${maxCount}.`);
    }
    this.#runner.configure(NO_SAMPLING, count);
    this.#checkPlaces(rows.length);
    const found: LikeliestTokens[] = [];
    for (const batch of batches(rows, this.#runner.maxLogitSeats)) {
      const seats = batch.map((row) => this.#cached.lastSeat(row, 1));
      found.push(...(await this.#runner.likeliest(seats, count)));
      for (const row of batch) this.#cached.release(row, this.textLength(row) - 1);
    }
    return found;
  }

  async score(row: number, ids: readonly number[]): Promise<readonly number[]> {
    this.#texts.checkScore(row, ids);
    const from = this.textLength(row) - 1;
    this.#checkPlaces(ids.length);
    const read = [this.#texts.textOf(row)[from]!, ...ids];
    this.#cached.reserve(row, from + ids.length);
    const scores: number[] = [];
    for (const targets of batches(ids, this.#runner.maxLogitSeats)) {
      const at = scores.length;
      const seats = targets.map((_, i) => ({ token: read[at + i]!, position: from + at + i, row, toDraw: 0 }));
      scores.push(...(await this.#runner.score(seats, targets)));
    }
    this.#cached.release(row, from);
    return scores;
  }

  /** Bytes of all the model's buffers on the device, staging included. */
  get allocatedBytes(): number {
    return [...this.#recorder.gpu.buffers].reduce((sum, { size }) => sum + size, 0);
  }

  counters(): EngineCounters {
    return { ...this.#recorder.gpu.counters };
  }

  destroy(): void {
    this.#recorder.gpu.close();
  }

  async #cache(rows: readonly number[]): Promise<void> {
    this.#cached.cache(rows);
    await this.#runner.whenIdle();
  }

  /** Throws BackendError if fewer places than `wanted` are free. */
  #checkPlaces(wanted: number, free = this.#cached.freePlaces): void {
    if (wanted <= free) return;
    throw new BackendError(
      `The key-value cache holds ${this.#tensors.cachePlaces} tokens, ${free} of them free; ${wanted} are needed.`,
      'Use fewer rows or shorter texts, or open the model with a larger cache.',
    );
  }
}

function batches<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));
}
