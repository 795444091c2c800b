import type { BackendInfo } from '../../../domain/backendInfo.ts';
import type { WorkProfile } from '../../../domain/profile.ts';
import { freeGrammar, type Grammar, type TokenRecord } from '../../../domain/tokens.ts';
import { type AdapterConfig, adapterParameters, initialAdapters } from '../../adapters.ts';
import type { ModelConfig, Parameter, Weights } from '../../architecture.ts';
import type { DecodeChunk, DecodedChunk, DrawCounters, Sampling } from '../../decoding.ts';
import type { LearningMath } from '../../learningMath.ts';
import type { CreditInput, EngineCounters, GivenCredit, Policy, PolicySpec, PolicyState } from '../../policy.ts';
import type { PassWeights, PolicyReport, StepStats } from '../../policyReport.ts';
import type { CreditSettings, ObjectiveSettings, OptimizerSettings } from '../../settings.ts';
import { createRecomputeRoom } from '../activations.ts';
import type { Arithmetic } from '../arithmetic.ts';
import { clearBatch, createBatch, loadBatch, reportOf, withPass, writeCredit, type Batch } from '../batch.ts';
import { cpuCeilings } from '../ceilings.ts';
import { Decoder } from '../decoder.ts';
import { LanguageHead } from '../head.ts';
import { fillRotary } from '../layers.ts';
import { createLearned, readNetwork, readPool, resetNetwork, writeNetwork, type Learned } from '../network.ts';
import { adamW } from '../optimizer.ts';
import type { Real } from '../real.ts';
import { TextNetwork } from '../textNetwork.ts';
import type { TimedArithmetic } from '../timed.ts';
import { wholeProducts } from '../transformer.ts';
import { AdapterGradients } from './adapterGradients.ts';
import { accumulateAdapted, type AdaptedLearner, scoreAll, valueHead } from './learner.ts';
import { type AdaptedMemoryOptions, drawingSizes, passSizes } from './memory.ts';
import type { MemoryPart } from '../../textModel.ts';
import type { MergedTrunk } from './mergedTrunk.ts';
import { SlotReader } from './slotReader.ts';

/** How adapters are opened on the CPU. */
export interface AdaptedPolicyOptions extends AdaptedMemoryOptions {
  readonly seed: number; // of the fresh adapters
  readonly reason: string; // why this backend; '' where nothing had to be decided
  readonly share?: boolean; // false runs every row by itself when learning, to test against
  /** Called between two layers of a pass, told how many of the stage are done: lets the event loop run. */
  readonly between?: (done: number, total: number) => Promise<void>;
}

/** See `openCpuAdaptedPolicy`. Beyond the seam it shows gradients, for tests. */
export class AdaptedPolicy implements Policy {
  readonly backend: BackendInfo;
  readonly model: ModelConfig;
  readonly parameters: readonly Parameter[];
  readonly rows: number;
  readonly length: number;
  readonly memoryBytes: number;
  readonly #options: AdaptedPolicyOptions;
  readonly #memory: readonly MemoryPart[];
  readonly #timed: TimedArithmetic;
  readonly #arithmetic: Arithmetic;
  readonly #math: LearningMath;
  readonly #batch: Batch;
  readonly #learned: Learned;
  readonly #reference: Real;
  readonly #trunk: MergedTrunk;
  readonly #learner: AdaptedLearner;
  readonly #decoder: Decoder;
  #grammar: Grammar;
  #sampling: Sampling | null = null;
  #hasReference = false;
  #steps: StepStats[] = [];
  #passes: readonly PassWeights[] = [];
  #submits = 0;
  #readbacks = 0;

  constructor(
    spec: PolicySpec,
    trunk: MergedTrunk,
    adapters: AdapterConfig,
    timed: TimedArithmetic,
    memory: readonly MemoryPart[],
    math: LearningMath,
    options: AdaptedPolicyOptions,
  ) {
    const { model, rows, length } = spec;
    const { arithmetic } = timed;
    const { precision = 'f32', simd = true, share = true, reason, seed } = options;
    const { capacity, keptTokens } = passSizes(spec, options);
    this.backend = { kind: 'cpu', adapter: arithmetic.name, software: false, storage: 'f32', reason };
    this.model = model;
    this.parameters = adapterParameters(model, adapters);
    this.rows = rows;
    this.length = length;
    this.memoryBytes = memory.reduce((sum, { bytes }) => sum + bytes, 0);
    this.#options = options;
    this.#memory = memory;
    this.#timed = timed;
    this.#arithmetic = arithmetic;
    this.#math = math;
    this.#grammar = freeGrammar(model.vocab_size);
    this.#batch = createBatch(rows, length, precision);
    this.#learned = createLearned(this.parameters, arithmetic);
    this.#reference = arithmetic.reals(this.#learned.size);
    this.#trunk = trunk;
    const room = createRecomputeRoom(arithmetic, capacity, keptTokens);
    const rotary = arithmetic.reals(length * model.head_dim);
    fillRotary(rotary, model);
    this.#learner = {
      learned: this.#learned,
      trunk,
      gradients: new AdapterGradients(arithmetic, adapters, this.#learned, capacity.tokens),
      value: valueHead(this.#learned),
      room: { ...room, reach: { ...room.reach, table: arithmetic.integers(rows * length) } },
      most: capacity.tokens,
      share,
      head: new LanguageHead(arithmetic, capacity.tokens),
      rotary,
      batch: this.#batch,
      math,
      scored: { tree: null, temperature: 1 },
      between: options.between ?? (() => Promise.resolve()),
    };
    const sizes = drawingSizes(spec, precision, simd && precision === 'f32');
    const network = new TextNetwork(arithmetic, trunk.tensors, wholeProducts(arithmetic), sizes);
    this.#decoder = new Decoder(
      this.#batch,
      new SlotReader(this.#batch, network, trunk.tensors, arithmetic),
      arithmetic,
    );
    this.writeWeights(initialAdapters(model, adapters, seed));
  }

  setGrammar(grammar: Grammar): void {
    if (grammar.vocabulary !== this.model.vocab_size) {
      throw new Error(`setGrammar: vocabulary is ${grammar.vocabulary}; want the model's ${this.model.vocab_size}.`);
    }
    this.#grammar = grammar;
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

  decode(chunk: DecodeChunk): Promise<DecodedChunk> {
    return new Promise((resolve) => {
      if (!this.#sampling) throw new Error('decode: nothing was begun; call begin first.');
      this.#submits++;
      this.#readbacks++;
      this.#forgetScored();
      resolve(this.#decoder.decode(chunk, this.#sampling, this.#grammar));
    });
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
    this.#submits++;
    this.#forgetScored();
    if (want.reference) {
      this.#merge(this.#reference);
      try {
        // entropies and values of the reference are not wanted; learn() overwrites these before it reads them
        const of = { logprobs: batch.refLogprobs, entropies: batch.entropies, values: batch.values };
        await scoreAll(this.#learner, this.#grammar, temperature, false, of);
      } finally {
        this.#merge(this.#learned.weights);
      }
    }
    const old = { logprobs: batch.oldLogprobs, entropies: batch.oldEntropies, values: batch.oldValues };
    await scoreAll(this.#learner, this.#grammar, temperature, want.values, old);
    if (!want.reference) batch.refLogprobs.set(batch.oldLogprobs);
  }

  credit(input: CreditInput, settings: CreditSettings): void {
    const batch = this.#batch;
    this.#passes = [];
    writeCredit(batch, this.#math.credit({ ...batch, values: batch.oldValues }, input, settings));
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
    this.#submits++;
    this.#steps.push(stats);
  }

  /** The first half of `learn`: gradients and measurements, without a step. */
  accumulate(rows: Int32Array, objective: ObjectiveSettings, temperature: number): Promise<StepStats> {
    return accumulateAdapted(this.#learner, this.#grammar, rows, objective, temperature);
  }

  endPass(): void {
    this.#passes = withPass(this.#passes, this.#batch);
  }

  report(): Promise<PolicyReport> {
    this.#readbacks++;
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

  /** The adapters; a value head that is not given becomes zero. */
  writeWeights(weights: Weights): void {
    resetNetwork(this.#learned, weights);
    this.#adaptersChanged();
  }

  counters(): EngineCounters {
    return { dispatches: 0, submits: this.#submits, readbacks: this.#readbacks, uploadBytes: 0, creations: 0 };
  }

  settled(): Promise<void> {
    return Promise.resolve(); // every stage has done its work when it resolves
  }

  tally(now: () => number): void {
    this.#timed.start(now);
  }

  profile(now: () => number): Promise<WorkProfile> {
    const { precision = 'f32', simd = true } = this.#options;
    return Promise.resolve({
      clock: 'CPU',
      variant: this.backend.adapter,
      ceilings: cpuCeilings(this.model, precision, simd, now),
      kernels: this.#timed.work(),
      memory: [...this.#memory],
    });
  }

  destroy(): void {
    this.#sampling = null;
  }

  /** Gradients of the last learn() or accumulate(), before clipping. */
  gradients(): Weights {
    return readPool(this.#learned.placed, this.#learned.gradients);
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
    this.#trunk.merge(this.#arithmetic, this.#learned, weights);
  }
}
