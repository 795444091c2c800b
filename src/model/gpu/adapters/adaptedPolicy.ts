import type { BackendInfo } from '../../../domain/backendInfo.ts';
import type { WorkProfile } from '../../../domain/profile.ts';
import type { Recorder } from '../../../gpu/plan.ts';
import type { AdapterConfig } from '../../loraAdapters.ts';
import { AdapterPolicyBase } from '../../learning/adapterPolicyBase.ts';
import type { AdaptedLearner } from '../../learning/adaptedLearner.ts';
import { valueHead } from '../../learning/adaptedValueHead.ts';
import { Decoder } from '../../learning/decoder.ts';
import type { TrainedTensors } from '../../learning/trainedTensors.ts';
import type { Real } from '../../learning/real.ts';
import type { LearningMath } from '../../learningMath.ts';
import type { EngineCounters, PolicySpec } from '../../policy.ts';
import type { KernelSet } from '../../../config/kernelChoice.ts';
import { Profiler } from '../workProfile.ts';
import { variantsOf } from '../kernelSets.ts';
import { type Pass, recordPasses } from '../text/passes.ts';
import { Runner, type SeatToken } from '../text/runner.ts';
import type { AdaptedTensors } from './adaptedTensors.ts';
import { DeviceTreeNetwork } from './treeNetwork.ts';
import type { Batch } from '../../learning/batchArrays.ts';
import { longestShared, sharedBeginnings } from '../../sharedBeginnings.ts';
import { write } from '../../../gpu/tensor.ts';
import type { Gpu } from '../../../gpu/device.ts';
import { CachePlaces } from '../text/places.ts';
import type { TextTensors } from '../text/textTensors.ts';

/** Rows share a beginning in its key-value cache. Logits are read back, because the CPU draws the tokens. */
class DeviceRowReader {
  readonly #gpu: Gpu;
  readonly #batch: Batch;
  readonly #tensors: TextTensors;
  readonly #runner: Runner;
  readonly #places: CachePlaces;

  constructor(gpu: Gpu, batch: Batch, tensors: TextTensors, runner: Runner) {
    this.#gpu = gpu;
    this.#batch = batch;
    this.#tensors = tensors;
    this.#runner = runner;
    this.#places = new CachePlaces(batch.rows, batch.length, tensors.cachePlaces);
  }

  /** Empties the cache of all rows. Call it when the weights or the record have changed. */
  clearCache(): void {
    for (let row = 0; row < this.#batch.rows; row++) this.clearRowCache(row);
  }

  clearRowCache(row: number): void {
    this.#places.release(row, 0);
  }

  /** Caches the new tokens of these rows, and writes the logits (active.length, V) after each row's last token. */
  async read(active: readonly number[], logits: Real): Promise<void> {
    const { lengths } = this.#batch;
    await this.#runner.prefill(this.#seatsBeforeLast(active));
    const lastSeats = active.map((row) => {
      const position = lengths[row]! - 1;
      this.#reserve(row, position + 1);
      return { token: this.#text(row)[position]!, position, row, toDraw: 0 };
    });
    let at = 0;
    for (let from = 0; from < lastSeats.length; from += this.#runner.maxLogitSeats) {
      const chunk = await this.#runner.logits(lastSeats.slice(from, from + this.#runner.maxLogitSeats));
      logits.set(chunk, at);
      at += chunk.length;
    }
  }

  /** Rows that begin alike share the places of their beginning. */
  #seatsBeforeLast(active: readonly number[]): SeatToken[] {
    const { lengths } = this.#batch;
    const emptyRows = active.filter((row) => this.#places.count(row) === 0);
    const cachedRows = Array.from(lengths.keys()).filter((row) => this.#places.count(row) > 0);
    const cachedTexts = cachedRows.map((row) => this.#text(row).subarray(0, this.#places.count(row)));
    const texts = emptyRows.map((row) => this.#text(row).subarray(0, -1));
    const seats = sharedBeginnings(texts.map((text) => Array.from(text))).map(({ row, likeRow, shared }) => {
      const target = emptyRows[row]!;
      const cached = longestShared(texts[row]!, cachedTexts);
      const count = Math.max(cached.shared, shared);
      this.#places.share(target, cached.shared > shared ? cachedRows[cached.index]! : emptyRows[likeRow]!, count);
      return this.#reservedSeats(target, lengths[target]! - 1, 0, count);
    });
    const rowsWithCache = active.filter((row) => !emptyRows.includes(row));
    for (const row of rowsWithCache) {
      const count = this.#places.count(row);
      seats.push(this.#reservedSeats(row, lengths[row]! - 1, count, count));
    }
    return seats.flat();
  }

  /** Reserves places up to position `to`, uploads those from `uploadFrom` on, and returns the seats from `from` on. */
  #reservedSeats(row: number, to: number, uploadFrom: number, from: number): SeatToken[] {
    this.#reserve(row, to, uploadFrom);
    const text = this.#text(row);
    return Array.from({ length: Math.max(0, to - from) }, (_, i) => {
      return { token: text[from + i]!, position: from + i, row, toDraw: 0 };
    });
  }

  /** Reserves places for a row up to position `to`, and uploads its places from `from` on, by default the new ones. */
  #reserve(row: number, to: number, from = this.#places.count(row)): void {
    this.#places.extend(row, to);
    const at = row * this.#batch.length;
    if (to > from)
      write(this.#gpu, this.#tensors.placeTable, this.#places.table.subarray(at + from, at + to), at + from);
  }

  #text(row: number): Int32Array {
    const { length, lengths, tokens } = this.#batch;
    return tokens.subarray(row * length, row * length + lengths[row]!);
  }
}

export interface AdaptedPolicyParts {
  readonly recorder: Recorder;
  readonly spec: PolicySpec;
  readonly adapters: AdapterConfig;
  readonly learned: TrainedTensors;
  readonly tensors: AdaptedTensors;
  readonly math: LearningMath;
  readonly kernels: KernelSet;
}

export interface AdaptedPolicySettings {
  readonly seed: number; // of the fresh adapters
  readonly reason: string; // why this backend was chosen; '' if there was nothing to decide
  /** Called between two layers of a pass with the progress of the stage. Lets the event loop run. */
  readonly reportProgress?: (done: number, total: number) => Promise<void>;
}

/** The policy that `openGpuAdaptedPolicy` opens. For tests it also exposes gradients, which `Policy` does not. */
export class GpuAdaptedPolicy extends AdapterPolicyBase {
  readonly backend: BackendInfo;
  readonly memoryBytes: number;
  readonly lost: Promise<string>;
  readonly passes: readonly Pass[]; // for drawing tokens
  readonly network: DeviceTreeNetwork;
  protected readonly decoder: Decoder;
  protected readonly learner: AdaptedLearner;
  readonly #recorder: Recorder;
  readonly #runner: Runner;
  readonly #profiler: Profiler;

  /** Use `openGpuAdaptedPolicy` instead: it also compiles the pipelines, loads the weights and calls `start`. */
  constructor(parts: AdaptedPolicyParts, { reason, reportProgress }: AdaptedPolicySettings) {
    const { recorder, spec, adapters, learned, tensors, math, kernels } = parts;
    const { model, rows, length } = spec;
    super(spec, { adapters, trained: learned, reference: new Float32Array(learned.size), math }, 'f32');
    this.#recorder = recorder;
    const { gpu } = recorder;
    const variants = variantsOf(gpu, kernels);
    const { adapter, software } = gpu;
    this.backend = { kind: 'gpu', adapter, software, storage: 'f32', reason };
    this.memoryBytes = tensors.memory.reduce((sum, { bytes }) => sum + bytes, 0);
    this.lost = gpu.lost;
    this.network = new DeviceTreeNetwork(recorder, { model, adapters, tensors, variants, keys: length / 2 });
    this.learner = {
      ...{ network: this.network, trained: learned, batch: this.batch, math },
      ...{
        layers: model.num_hidden_layers,
        width: model.hidden_size,
        maxNodes: tensors.maxTokens,
        sharePrefixes: true,
        valueHead: valueHead(learned),
      },
      lastScoring: { tree: null, temperature: 1 },
      reportProgress: reportProgress ?? (() => Promise.resolve()),
    };
    this.passes = recordPasses(recorder, { model, tensors: tensors.text, rows, length });
    this.#runner = new Runner(gpu, tensors.text, this.passes);
    const reader = new DeviceRowReader(gpu, this.batch, tensors.text, this.#runner);
    this.decoder = new Decoder(this.batch, reader, { model, reals: (size) => new Float32Array(size) });
    this.#profiler = new Profiler(gpu, () => this.#plans(), kernels, tensors.memory);
  }

  /** Starts with initial adapters. Call it once the checkpoint's weights are on the device. */
  start(seed: number): void {
    this.setGrammar(this.grammar);
    this.reset(seed);
  }

  override counters(): EngineCounters {
    return { ...this.#recorder.gpu.counters };
  }

  /** Destroys the device, as a browser may do. For tests. */
  loseDevice(): void {
    this.#recorder.gpu.device.destroy();
  }

  override async whenIdle(): Promise<void> {
    await this.#recorder.gpu.device.queue.onSubmittedWorkDone();
  }

  startProfile(): void {
    this.#profiler.start();
  }

  async profile(now: () => number): Promise<WorkProfile> {
    const profile = await this.#profiler.measure(now);
    this.adaptersChanged(); // timing has overwritten tensors that kernels write
    return profile;
  }

  override destroy(): void {
    super.destroy();
    this.#runner.destroy();
    this.network.destroy();
    this.#recorder.gpu.close();
  }

  #plans() {
    const drawn = this.passes.flatMap(({ blocks, toLogits }) => (toLogits ? [blocks, toLogits] : [blocks]));
    return [...drawn, ...this.network.plans()];
  }

  protected mergeIn(weights: Real): void {
    this.network.merge(weights);
  }
}
