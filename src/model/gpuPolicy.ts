import type { FieldName } from '../config.ts';
import { isFieldName } from '../config.ts';
import { openGpu, submit, upload, type Gpu } from '../gpu/device.ts';
import * as kernels from '../gpu/kernels/index.ts';
import { Pipelines } from '../gpu/pipelines.ts';
import { Plan, ShapePool, type Recorder } from '../gpu/plan.ts';
import { Readback, readOnce } from '../gpu/readback.ts';
import { aligned, Arena, LimitError, slice, write, type Tensor } from '../gpu/tensor.ts';
import type { BackendInfo } from '../protocol.ts';
import type { Grammar, TokenRecord } from '../tokens.ts';
import { freeGrammar } from '../tokens.ts';
import { initialWeights, type ModelConfig, type Weights } from './architecture.ts';
import { declareActivations, declareGradients, scalarsPerToken } from './gpu/activations.ts';
import { declareBatch, firstChannels, GRAMMAR_STATES } from './gpu/batch.ts';
import { recordCredit } from './gpu/credit.ts';
import { declareDecoder, Decoder } from './gpu/decoder.ts';
import { creditKnobs, knobs, KNOBS_SCALARS } from './gpu/knobs.ts';
import type { Variant } from './gpu/layers.ts';
import {
  recordClosing,
  recordForward,
  recordLearning,
  recordOpening,
  type Heads,
  type MicroBatch,
} from './gpu/learner.ts';
import { declarePools, LOG_LINES, resetPools, unpack, type Pools } from './gpu/pools.ts';
import { stepStats } from './gpu/stepLog.ts';
import { rotaryTable, type Trunk } from './gpu/transformer.ts';
import {
  BackendError,
  criticConfig,
  type CreditSettings,
  type DecodeChunk,
  type DecodedChunk,
  type EngineCounters,
  type GivenCredit,
  type NetworkState,
  type ObjectiveSettings,
  type OptimizerSettings,
  type Policy,
  type PolicyReport,
  type PolicySpec,
  type PolicyState,
  type Sampling,
} from './policy.ts';

/** How to open a GPU policy. */
export interface GpuPolicyOptions {
  readonly seed: number; // of the initial weights
  readonly variant?: Variant; // default: barrier-free on software adapters, workgroup elsewhere
  readonly onLost?: (message: string) => void; // the device is gone for good
  readonly progress?: (done: number, total: number) => void; // pipelines compiled
}

const MICRO_BUDGET = 256 * 1024 * 1024; // bytes of activations a micro-batch may take

/** Opens a device and makes a policy on it. Throws NoGpuError without an adapter, BackendError where the model cannot fit. */
export async function openGpuPolicy(
  gpu: GPU | undefined,
  spec: PolicySpec,
  options: GpuPolicyOptions,
): Promise<GpuPolicy> {
  const opened = await openGpu(gpu);
  try {
    return await GpuPolicy.create(opened, spec, options);
  } catch (error) {
    opened.device.destroy();
    if (error instanceof LimitError) {
      const fields = error.knobs.filter(isFieldName) as FieldName[];
      throw new BackendError(error.message, `Turn down ${fields.join(', ')}.`, fields);
    }
    throw error;
  }
}

interface Plans {
  readonly scoreLearner: Plan;
  readonly scoreReference: Plan;
  readonly scoreCritic: Plan | null;
  readonly credit: Readonly<Record<'gae' | 'grpo', Plan>>;
  readonly weights: Plan; // aggregation weights of the minibatch
  readonly opening: Plan;
  readonly learn: Plan;
  readonly closing: Plan;
  readonly critic: { readonly opening: Plan; readonly learn: Plan; readonly closing: Plan } | null;
}

/** Device tensors of the policy that belong to no layer. */
function declareControl(arena: Arena, spec: PolicySpec, R: number) {
  const { rows: B, minibatchRows: M, length: T, model } = spec;
  const steps = Math.ceil(Math.max(B, M) / R) * R;
  const uniform = GPUBufferUsage.UNIFORM;
  return {
    control: arena.declare('control', [2 * KNOBS_SCALARS + aligned(steps)], ['prompts', 'groupSize'], uniform),
    allRows: arena.declare('all rows', [steps]),
    rows: arena.declare('micro-batch rows', [R]),
    positions: arena.declare('positions', [R * T]),
    creditSettings: arena.declare('credit settings', [8], [], uniform),
    table: arena.declare('rotary table', [T, model.head_dim / 2, 2]),
    capacity: steps,
  };
}

/** Rows a micro-batch holds: as many of a minibatch as memory allows. */
function microRows(gpu: Gpu, spec: PolicySpec): number {
  const { minibatchRows: M, length: T, model: m } = spec;
  const perRow = 4 * T * scalarsPerToken(m);
  const widest =
    4 *
    T *
    Math.max(
      m.vocab_size,
      2 * m.intermediate_size * m.num_hidden_layers,
      (2 * m.num_hidden_layers + 1) * m.hidden_size,
    );
  const limit = Math.min(gpu.device.limits.maxStorageBufferBindingSize, gpu.device.limits.maxBufferSize);
  return Math.max(1, Math.min(M, Math.floor(MICRO_BUDGET / perRow), Math.floor(limit / (1.1 * widest))));
}

/** The Policy on WebGPU. Everything it does is recorded when it is made; an update makes no buffer, bind group or pipeline. */
export class GpuPolicy implements Policy {
  readonly backend: BackendInfo;
  readonly model: ModelConfig;
  readonly rows: number;
  readonly length: number;
  readonly memoryBytes: number;
  readonly gpu: Gpu;
  private readonly spec: PolicySpec;
  private readonly arena: Arena;
  private readonly recorder: Recorder;
  private readonly batch;
  private readonly tensors;
  private readonly R: number;
  private readonly policyPools: Pools;
  private readonly criticPools: Pools | null;
  private readonly reference: Tensor;
  private readonly acts;
  private readonly grads;
  private readonly decoderTensors;
  private readonly variant: Variant;
  private decoder!: Decoder;
  private plans!: Plans;
  private copies: Plan[] = [];
  private controlCopies: Plan[] = [];
  private readback!: Readback;
  private states = 1;
  private steps: { readonly entropyCoef: number; readonly klCoef: number; readonly valueCoef: number }[] = [];
  private stepCount = 0;
  private closed = false;

  private constructor(gpu: Gpu, spec: PolicySpec, options: GpuPolicyOptions) {
    this.gpu = gpu;
    this.spec = spec;
    this.model = spec.model;
    this.rows = spec.rows;
    this.length = spec.length;
    this.variant = options.variant ?? (gpu.software ? 'barrier-free' : 'workgroup');
    this.backend = { kind: 'gpu', adapter: gpu.adapter, software: gpu.software, reason: '' };
    this.arena = new Arena(gpu);
    this.recorder = { gpu, pipelines: new Pipelines(gpu), shapes: new ShapePool(gpu) };
    this.R = microRows(gpu, spec);
    const N = this.R * spec.length;
    this.batch = declareBatch(this.arena, spec);
    this.policyPools = declarePools(this.arena, 'policy', spec.model, spec.rows);
    this.criticPools =
      spec.critic === 'separate' ? declarePools(this.arena, 'critic', criticConfig(spec.model), spec.rows) : null;
    this.reference = this.arena.declare(
      'reference weights',
      [this.policyPools.layout.size],
      ['width', 'ffn', 'layers'],
    );
    this.tensors = declareControl(this.arena, spec, this.R);
    this.acts = declareActivations(this.arena, 'train', spec.model, N, true);
    this.grads = declareGradients(this.arena, spec.model, N);
    this.decoderTensors = declareDecoder(this.arena, spec);
    this.memoryBytes = this.arena.bytes;
  }

  /** Allocates, records, compiles and initialises; on failure everything is given back. */
  static async create(gpu: Gpu, spec: PolicySpec, options: GpuPolicyOptions): Promise<GpuPolicy> {
    const policy = new GpuPolicy(gpu, spec, options);
    await policy.arena.allocate();
    gpu.device.pushErrorScope('validation');
    policy.record();
    await policy.recorder.pipelines.compile(options.progress);
    const error = await gpu.device.popErrorScope();
    if (error) {
      policy.destroy();
      throw new Error(`WebGPU refused the recorded plans: ${error.message}`);
    }
    policy.initialise(options.seed);
    void gpu.lost.then((message) => {
      if (!policy.closed) options.onLost?.(message);
    });
    return policy;
  }

  private record(): void {
    const { spec, recorder, batch, tensors, R } = this;
    const { rows: B, length: T } = spec;
    const shared = { variant: this.variant, rotaryTable: tensors.table };
    const trunk: Trunk = { ...shared, model: spec.model, layout: this.policyPools.layout };
    const uniform = (index: number) => slice(tensors.control, 'knobs', index * KNOBS_SCALARS, [KNOBS_SCALARS]);
    const micro: MicroBatch = {
      recorder,
      batch,
      acts: this.acts,
      grads: this.grads,
      positions: tensors.positions,
      rows: tensors.rows,
      knobs: uniform(0),
      B,
      T,
      R,
    };
    const heads: Heads = { language: true, value: spec.critic === 'shared' };
    const scoreLearner = new Plan(recorder, 'score');
    recordForward(scoreLearner, micro, trunk, this.policyPools.weights, heads, batch.oldScores, batch.oldValues);
    const scoreReference = new Plan(recorder, 'score reference');
    recordForward(
      scoreReference,
      micro,
      trunk,
      this.reference,
      { language: true, value: false },
      batch.refScores,
      batch.oldValues,
    );
    const minibatch = slice(tensors.control, 'minibatch', 2 * KNOBS_SCALARS, [tensors.capacity]);
    const weights = new Plan(recorder, 'aggregation weights');
    weights.dispatch(
      kernels.aggregationWeights,
      { minibatch, masks: batch.masks, weights: batch.weights, knobs: uniform(0) },
      { M: spec.minibatchRows, T, B },
    );
    let scoreCritic: Plan | null = null;
    let critic: Plans['critic'] = null;
    if (this.criticPools) {
      const pools = this.criticPools;
      const side: Trunk = { ...shared, model: criticConfig(spec.model), layout: pools.layout };
      const only: Heads = { language: false, value: true };
      scoreCritic = new Plan(recorder, 'score critic');
      recordForward(scoreCritic, micro, side, pools.weights, only, batch.oldScores, batch.oldValues);
      critic = {
        opening: recordOpening(recorder, pools, 'critic opening'),
        learn: recordLearning({ ...micro, knobs: uniform(1) }, side, pools, only, 'critic learning'),
        closing: recordClosing(recorder, pools, uniform(1), B, 'critic closing'),
      };
    }
    this.plans = {
      scoreLearner,
      scoreReference,
      scoreCritic,
      weights,
      critic,
      credit: recordCredit(recorder, batch, tensors.creditSettings, B, T),
      opening: recordOpening(recorder, this.policyPools, 'opening'),
      learn: recordLearning(micro, trunk, this.policyPools, heads, 'learning'),
      closing: recordClosing(recorder, this.policyPools, uniform(0), B, 'closing'),
    };
    const copyRows = (from: Tensor, start: number) => {
      const plan = new Plan(recorder, 'rows');
      plan.copy(from, start, tensors.rows);
      return plan;
    };
    const parts = Array.from({ length: tensors.capacity / R }, (_, k) => k * R);
    this.copies = parts.map((start) => copyRows(tensors.allRows, start));
    this.controlCopies = parts.map((start) => copyRows(tensors.control, 2 * KNOBS_SCALARS + start));
    this.decoder = new Decoder(recorder, trunk, spec, this.policyPools.weights, batch, this.decoderTensors);
    const { oldScores, oldValues, credit, masks, coefficients } = batch;
    this.readback = new Readback(this.gpu, 'report', [
      firstChannels(oldScores, 2, B, T),
      oldValues,
      credit,
      masks,
      firstChannels(coefficients, 1, B, T),
      this.policyPools.log,
      ...(this.criticPools ? [this.criticPools.log] : []),
    ]);
  }

  private initialise(seed: number): void {
    const { tensors, R, spec } = this;
    const N = R * spec.length;
    write(
      this.gpu,
      tensors.positions,
      Uint32Array.from({ length: N }, (_, n) => n % spec.length),
    );
    write(this.gpu, tensors.table, rotaryTable(spec.model, spec.length));
    write(
      this.gpu,
      tensors.allRows,
      Uint32Array.from({ length: tensors.capacity }, (_, i) => (i < spec.rows ? i : 0xffffffff)),
    );
    this.setGrammar(freeGrammar(spec.model.vocab_size));
    this.writeWeights(initialWeights(spec.model, seed));
    this.freezeReference();
  }

  setGrammar(grammar: Grammar): void {
    if (grammar.states > GRAMMAR_STATES || grammar.vocabulary !== this.model.vocab_size) {
      throw new RangeError(
        `setGrammar: got ${grammar.states} states over ${grammar.vocabulary} tokens; want at most ${GRAMMAR_STATES} over ${this.model.vocab_size}.`,
      );
    }
    const words = new Int32Array(grammar.next.length + grammar.states);
    words.set(grammar.next);
    words.set(grammar.stop, grammar.next.length);
    this.states = grammar.states;
    write(this.gpu, this.batch.grammar, words);
  }

  begin(sampling: Sampling): void {
    this.decoder.begin(sampling, this.states);
  }

  decode(chunk: DecodeChunk): Promise<DecodedChunk> {
    return this.decoder.decode(chunk);
  }

  load(record: TokenRecord, given?: GivenCredit): void {
    const { batch, gpu } = this;
    const all = this.rows * this.length;
    const words = new Uint32Array(all);
    for (let i = 0; i < all; i++) {
      words[i] =
        (record.tokens[i] as number) | ((record.roles[i] as number) << 16) | ((record.states[i] as number) << 24);
    }
    write(gpu, batch.record, words);
    if (!given) return;
    write(gpu, batch.oldScores, given.oldLogprobs);
    write(gpu, batch.refScores, given.refLogprobs);
    write(gpu, batch.credit, given.advantages);
    write(gpu, batch.credit, given.returns, all);
    write(gpu, batch.masks, given.lossMask);
    write(gpu, batch.masks, given.valueMask, all);
    write(gpu, batch.oldValues, given.oldValues);
  }

  score(temperature: number, reference: boolean): void {
    upload(this.gpu, this.tensors.control.buffer, 0, Float32Array.of(temperature));
    submit(this.gpu, (encoder) => {
      for (const copy of this.copies.slice(0, Math.ceil(this.rows / this.R))) {
        copy.encode(encoder);
        this.plans.scoreLearner.encode(encoder);
        if (reference) this.plans.scoreReference.encode(encoder);
        this.plans.scoreCritic?.encode(encoder);
      }
    });
  }

  credit(rewards: Float32Array, groups: Int32Array, settings: CreditSettings): void {
    write(this.gpu, this.tensors.creditSettings, creditKnobs(settings));
    write(this.gpu, this.batch.rewards, rewards);
    write(this.gpu, this.batch.groups, groups);
    submit(this.gpu, (encoder) => this.plans.credit[settings.estimator].encode(encoder));
  }

  learn(rows: Int32Array, objective: ObjectiveSettings, optimizer: OptimizerSettings, temperature: number): void {
    this.prepare(rows, objective, optimizer, temperature);
    submit(this.gpu, (encoder) => {
      this.encodeGradients(encoder, rows.length);
      this.plans.closing.encode(encoder);
      const critic = this.plans.critic;
      if (!critic) return;
      critic.opening.encode(encoder);
      for (const copy of this.microCopies(rows.length)) {
        copy.encode(encoder);
        critic.learn.encode(encoder);
      }
      critic.closing.encode(encoder);
    });
    const { entropyCoef, klCoef } = objective;
    this.steps.push({ entropyCoef, klCoef, valueCoef: this.spec.critic === 'shared' ? objective.valueCoef : 0 });
    this.stepCount++;
  }

  /** Gradients of one step by name, before clipping, without taking it; stats of the step as well. For tests and goldens. */
  async gradients(
    rows: Int32Array,
    objective: ObjectiveSettings,
    optimizer: OptimizerSettings,
    temperature: number,
  ): Promise<{ readonly gradients: Weights; readonly stats: Float32Array }> {
    this.prepare(rows, objective, optimizer, temperature);
    submit(this.gpu, (encoder) => this.encodeGradients(encoder, rows.length));
    const [grads, words] = await readOnce(this.gpu, [this.policyPools.grads, this.policyPools.stats]);
    const perRow = new Float32Array((words as Uint32Array<ArrayBuffer>).buffer, words?.byteOffset, words?.length);
    const stats = new Float32Array(8);
    for (let i = 0; i < perRow.length; i++) stats[i % 8] = (stats[i % 8] as number) + (perRow[i] as number);
    return { gradients: unpack(this.policyPools.layout, grads as Uint32Array<ArrayBuffer>), stats };
  }

  /** Logits (B,T,V) of the loaded batch, index t those that follow token t. Only batches of one micro-batch. For tests. */
  async logits(): Promise<Float32Array> {
    if (this.R < this.rows) throw new RangeError(`logits: ${this.rows} rows in micro-batches of ${this.R}; want one.`);
    this.score(1, false);
    const [words] = await readOnce(this.gpu, [this.acts.logits]);
    return new Float32Array((words as Uint32Array<ArrayBuffer>).buffer, words?.byteOffset, words?.length);
  }

  private prepare(
    rows: Int32Array,
    objective: ObjectiveSettings,
    optimizer: OptimizerSettings,
    temperature: number,
  ): void {
    const { minibatchRows: M } = this.spec;
    if (rows.length > M) throw new RangeError(`learn: got ${rows.length} rows; this policy was made for at most ${M}.`);
    const words = new Uint32Array(this.tensors.control.shape[0] as number).fill(0xffffffff);
    const floats = new Float32Array(words.buffer);
    const slot = this.stepCount % LOG_LINES;
    floats.set(knobs(temperature, objective, optimizer, optimizer.learningRate, objective.valueCoef, slot));
    floats.set(knobs(temperature, objective, optimizer, optimizer.criticLearningRate, 1, slot), KNOBS_SCALARS);
    words.set(rows, 2 * KNOBS_SCALARS);
    upload(this.gpu, this.tensors.control.buffer, 0, words);
  }

  private microCopies(rows: number): readonly Plan[] {
    return this.controlCopies.slice(0, Math.max(1, Math.ceil(rows / this.R)));
  }

  private encodeGradients(encoder: GPUCommandEncoder, rows: number): void {
    this.plans.opening.encode(encoder);
    this.plans.weights.encode(encoder);
    for (const copy of this.microCopies(rows)) {
      copy.encode(encoder);
      this.plans.learn.encode(encoder);
    }
  }

  async report(): Promise<PolicyReport> {
    submit(this.gpu, (encoder) => this.readback.encode(encoder));
    const words = await this.readback.read();
    const problem = this.gpu.problems.shift();
    if (problem) throw new Error(`WebGPU reported an error: ${problem}`);
    const [scores, values, credit, masks, gradWeights, log, criticLog] = words.map(
      (w) => new Float32Array(w.buffer, w.byteOffset, w.length),
    );
    const all = this.rows * this.length;
    const part = (table: Float32Array<ArrayBuffer> | undefined, index: number) =>
      (table as Float32Array<ArrayBuffer>).subarray(index * all, (index + 1) * all);
    const first = Math.max(0, this.steps.length - LOG_LINES);
    const steps = this.steps.slice(first).map((weights, i) => {
      const slot = (this.stepCount - this.steps.length + first + i) % LOG_LINES;
      const line = (table: Float32Array<ArrayBuffer>) => table.subarray(slot * 16, slot * 16 + 16);
      const critic = criticLog && this.criticPools ? line(criticLog) : null;
      return stepStats(
        line(log as Float32Array<ArrayBuffer>),
        this.policyPools.layout,
        weights,
        critic,
        this.criticPools?.layout ?? null,
      );
    });
    this.steps = [];
    return {
      logprobs: part(scores, 0),
      entropies: part(scores, 1),
      values: part(values, 0),
      advantages: part(credit, 0),
      returns: part(credit, 1),
      lossMask: part(masks, 0),
      valueMask: part(masks, 1),
      gradWeights: part(gradWeights, 0),
      steps,
    };
  }

  freezeReference(): void {
    const { weights } = this.policyPools;
    submit(this.gpu, (encoder) => {
      encoder.copyBufferToBuffer(weights.buffer, 0, this.reference.buffer, 0, weights.bytes);
    });
  }

  async readState(): Promise<PolicyState> {
    const policy = await this.readNetwork(this.policyPools);
    return { policy, critic: this.criticPools ? await this.readNetwork(this.criticPools) : null };
  }

  private async readNetwork(pools: Pools): Promise<NetworkState> {
    const { weights, first, second, control } = pools;
    const [w, m, v, c] = (await readOnce(this.gpu, [weights, first, second, control])) as [
      Uint32Array<ArrayBuffer>,
      Uint32Array<ArrayBuffer>,
      Uint32Array<ArrayBuffer>,
      Uint32Array<ArrayBuffer>,
    ];
    return {
      weights: unpack(pools.layout, w),
      adamM: unpack(pools.layout, m),
      adamV: unpack(pools.layout, v),
      steps: c[2] as number,
    };
  }

  writeState(state: PolicyState): void {
    this.writeNetwork(this.policyPools, state.policy);
    if (this.criticPools && state.critic) this.writeNetwork(this.criticPools, state.critic);
  }

  private writeNetwork(pools: Pools, state: NetworkState): void {
    resetPools(this.gpu, pools, state.weights, { m: state.adamM, v: state.adamV, steps: state.steps });
  }

  writeWeights(weights: Weights): void {
    resetPools(this.gpu, this.policyPools, weights);
    if (!this.criticPools) return;
    // The critic starts as a copy of the policy's trunk; its own value head starts at zero.
    resetPools(this.gpu, this.criticPools, new Map([...weights].filter(([name]) => !name.startsWith('value_head'))));
  }

  counters(): EngineCounters {
    return { ...this.gpu.counters };
  }

  /** Dispatches of one micro-step of learning (forward, objective, backward and its share of opening and closing). */
  get dispatchesPerMicroStep(): number {
    return this.plans.learn.dispatches + this.plans.weights.dispatches + this.plans.closing.dispatches;
  }

  destroy(): void {
    this.closed = true;
    this.gpu.device.destroy();
  }
}
