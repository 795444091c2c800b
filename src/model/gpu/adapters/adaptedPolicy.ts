import type { BackendInfo } from '../../../domain/backendInfo.ts';
import type { WorkProfile } from '../../../domain/profile.ts';
import { freeGrammar, type Grammar, type TokenRecord } from '../../../domain/tokens.ts';
import type { Recorder } from '../../../gpu/plan.ts';
import { type AdapterConfig, adapterParameters, initialAdapters } from '../../adapters.ts';
import type { ModelConfig, Parameter, Weights } from '../../architecture.ts';
import { clearBatch, createBatch, loadBatch, reportOf, withPass, writeCredit, type Batch } from '../../cpu/batch.ts';
import { Decoder } from '../../cpu/decoder.ts';
import { type Learned, readNetwork, readPool, resetNetwork, writeNetwork } from '../../cpu/network.ts';
import { adamW } from '../../cpu/optimizer.ts';
import type { Real } from '../../cpu/real.ts';
import type { DecodeChunk, DecodedChunk, DrawCounters, Sampling } from '../../decoding.ts';
import type { LearningMath } from '../../learningMath.ts';
import type { CreditInput, EngineCounters, GivenCredit, Policy, PolicySpec, PolicyState } from '../../policy.ts';
import type { PassWeights, PolicyReport, StepStats } from '../../policyReport.ts';
import type { CreditSettings, ObjectiveSettings, OptimizerSettings } from '../../settings.ts';
import type { KernelSet } from '../../../config/kernelChoice.ts';
import { Profiler } from '../workProfile.ts';
import { partsOf } from '../kernelSets.ts';
import { type Pass, recordPasses } from '../text/passes.ts';
import { Runner } from '../text/runner.ts';
import { accumulateOnDevice, type DeviceLearner, scoreAll } from './learner.ts';
import { DeviceRowReader } from './rowReader.ts';
import type { AdaptedTensors } from './tensors.ts';
import { TreeNetwork } from './treeNetwork.ts';

/** What a policy is made of. */
export interface AdaptedPolicyParts {
  readonly recorder: Recorder;
  readonly spec: PolicySpec;
  readonly adapters: AdapterConfig;
  readonly learned: Learned;
  readonly tensors: AdaptedTensors;
  readonly math: LearningMath;
  readonly kernels: KernelSet;
}

/** How adapters are opened on a GPU, beside the room for them. */
export interface AdaptedPolicySettings {
  readonly seed: number; // of the fresh adapters
  readonly reason: string; // why this backend; '' where nothing had to be decided
  /** Called between two layers of a pass, told how many of the stage are done: lets the event loop run. */
  readonly between?: (done: number, total: number) => Promise<void>;
}

/** See `openGpuAdaptedPolicy`. Beyond the seam it shows gradients, for tests. */
export class GpuAdaptedPolicy implements Policy {
  readonly backend: BackendInfo;
  readonly model: ModelConfig;
  readonly parameters: readonly Parameter[];
  readonly rows: number;
  readonly length: number;
  readonly memoryBytes: number;
  readonly lost: Promise<string>;
  readonly passes: readonly Pass[]; // that tokens are drawn with
  readonly network: TreeNetwork;
  readonly #parts: AdaptedPolicyParts;
  readonly #batch: Batch;
  readonly #learned: Learned;
  readonly #reference: Real;
  readonly #learner: DeviceLearner;
  readonly #runner: Runner;
  readonly #decoder: Decoder;
  readonly #profiler: Profiler;
  #grammar: Grammar;
  #sampling: Sampling | null = null;
  #hasReference = false;
  #steps: StepStats[] = [];
  #passes: readonly PassWeights[] = [];

  /** For `openGpuAdaptedPolicy`, which compiles it, loads its weights and then calls `start`. */
  constructor(parts: AdaptedPolicyParts, { reason, between }: AdaptedPolicySettings) {
    const { recorder, spec, adapters, learned, tensors, math, kernels } = parts;
    const { model, rows, length } = spec;
    const { gpu } = recorder;
    const choice = partsOf(kernels);
    const { adapter, software } = gpu;
    this.backend = { kind: 'gpu', adapter, software, storage: 'f32', reason };
    this.model = model;
    this.parameters = adapterParameters(model, adapters);
    this.rows = rows;
    this.length = length;
    this.memoryBytes = tensors.memory.reduce((sum, { bytes }) => sum + bytes, 0);
    this.lost = gpu.lost;
    this.#parts = parts;
    this.#grammar = freeGrammar(model.vocab_size);
    this.#batch = createBatch(rows, length, 'f32');
    this.#learned = learned;
    this.#reference = new Float32Array(learned.size);
    this.network = new TreeNetwork(recorder, { model, adapters, tensors, choice, keys: length / 2 });
    this.#learner = {
      ...{ network: this.network, learned, batch: this.#batch, math },
      ...{ layers: model.num_hidden_layers, most: tensors.most },
      scored: { tree: null, temperature: 1 },
      between: between ?? (() => Promise.resolve()),
    };
    this.passes = recordPasses(recorder, { model, tensors: tensors.text, rows, length });
    this.#runner = new Runner(gpu, tensors.text, this.passes);
    const reader = new DeviceRowReader(gpu, this.#batch, tensors.text, this.#runner);
    this.#decoder = new Decoder(this.#batch, reader, { model, reals: (size) => new Float32Array(size) });
    this.#profiler = new Profiler(gpu, () => this.#plans(), kernels, tensors.memory);
  }

  /** Begins with fresh adapters, once the checkpoint's weights are on the device. */
  start(seed: number): void {
    this.setGrammar(this.#grammar);
    this.writeWeights(initialAdapters(this.model, this.#parts.adapters, seed));
  }

  setGrammar(grammar: Grammar): void {
    if (grammar.vocabulary !== this.model.vocab_size) {
      throw new Error(`setGrammar: vocabulary is ${grammar.vocabulary}; want the model's ${this.model.vocab_size}.`);
    }
    this.#grammar = grammar;
    this.network.setGrammar(grammar);
    this.#forgetScored();
  }

  begin(sampling: Sampling): void {
    clearBatch(this.#batch);
    this.#forgetScored();
    this.#decoder.begin(sampling.update);
    this.#sampling = sampling;
  }

  beginRow(row: number, counters: DrawCounters): void {
    this.#decoder.beginRow(row, counters);
  }

  async decode(chunk: DecodeChunk): Promise<DecodedChunk> {
    if (!this.#sampling) throw new Error('decode: nothing was begun; call begin first.');
    this.#forgetScored();
    return this.#decoder.decode(chunk, this.#sampling, this.#grammar);
  }

  load(record: TokenRecord, given?: GivenCredit): void {
    loadBatch(this.#batch, record, this.model.vocab_size, given);
    this.#forgetScored();
    this.#decoder.forget();
  }

  async score(temperature: number, want: { readonly reference: boolean; readonly values: boolean }): Promise<void> {
    if (want.reference && !this.#hasReference) {
      throw new Error('score: there is no reference; call freezeReference first.');
    }
    const batch = this.#batch;
    this.#forgetScored();
    if (want.reference) {
      this.#merge(this.#reference);
      try {
        // entropies of the reference are not wanted; learn() overwrites these before it reads them
        await scoreAll(this.#learner, temperature, { logprobs: batch.refLogprobs, entropies: batch.entropies });
      } finally {
        this.#merge(this.#learned.weights);
      }
    }
    await scoreAll(this.#learner, temperature, { logprobs: batch.oldLogprobs, entropies: batch.oldEntropies });
    if (!want.reference) batch.refLogprobs.set(batch.oldLogprobs);
  }

  credit(input: CreditInput, settings: CreditSettings): void {
    const batch = this.#batch;
    this.#passes = [];
    writeCredit(batch, this.#parts.math.credit({ ...batch, values: batch.oldValues }, input, settings));
  }

  async learn(
    rows: Int32Array,
    objective: ObjectiveSettings,
    optimizer: OptimizerSettings,
    temperature: number,
  ): Promise<void> {
    const stats = await this.accumulate(rows, objective, temperature);
    if (stats.skipped === '' && !optimizer.criticOnly) {
      adamW(this.#learned, stats.gradNorm, optimizer.learningRate, optimizer);
      this.#adaptersChanged();
    }
    this.#steps.push(stats);
  }

  /** The first half of `learn`: gradients and measurements, without a step. */
  accumulate(rows: Int32Array, objective: ObjectiveSettings, temperature: number): Promise<StepStats> {
    return accumulateOnDevice(this.#learner, rows, objective, temperature);
  }

  endPass(): void {
    this.#passes = withPass(this.#passes, this.#batch);
  }

  report(): Promise<PolicyReport> {
    const [passes, steps] = [this.#passes, this.#steps];
    [this.#passes, this.#steps] = [[], []];
    return Promise.resolve(reportOf(this.#batch, passes, steps));
  }

  freezeReference(): void {
    this.#reference.set(this.#learned.weights);
    this.#hasReference = true;
  }

  readState(): Promise<PolicyState> {
    return Promise.resolve({ policy: readNetwork(this.#learned), critic: null });
  }

  writeState(state: PolicyState): void {
    if (state.critic !== null) {
      throw new Error('writeState: got a state with a separate critic; want one without. Set critic as it was.');
    }
    writeNetwork(this.#learned, state.policy);
    this.#adaptersChanged();
  }

  writeWeights(weights: Weights): void {
    resetNetwork(this.#learned, weights);
    this.#adaptersChanged();
  }

  counters(): EngineCounters {
    return { ...this.#parts.recorder.gpu.counters };
  }

  /** Loses the device as a browser may take it away; for tests. */
  loseDevice(): void {
    this.#parts.recorder.gpu.device.destroy();
  }

  async settled(): Promise<void> {
    await this.#parts.recorder.gpu.device.queue.onSubmittedWorkDone();
  }

  tally(): void {
    this.#profiler.start();
  }

  async profile(now: () => number): Promise<WorkProfile> {
    const profile = await this.#profiler.measure(now);
    this.#adaptersChanged(); // timed kernels overwrite what they write
    return profile;
  }

  destroy(): void {
    this.#sampling = null;
    this.#runner.destroy();
    this.network.destroy();
    this.#parts.recorder.gpu.close();
  }

  /** Gradients of the last learn() or accumulate(), before clipping. */
  gradients(): Weights {
    return readPool(this.#learned.placed, this.#learned.gradients);
  }

  #plans() {
    const drawn = this.passes.flatMap(({ blocks, finish }) => (finish ? [blocks, finish] : [blocks]));
    return [...drawn, ...this.network.plans()];
  }

  #adaptersChanged(): void {
    this.#merge(this.#learned.weights);
    this.#decoder.forget();
  }

  #forgetScored(): void {
    this.#learner.scored.tree = null;
  }

  #merge(weights: Real): void {
    this.#forgetScored();
    this.network.merge(weights);
  }
}
