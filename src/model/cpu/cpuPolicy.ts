import type { WorkProfile } from '../../domain/profile.ts';
import type { BackendInfo } from '../../domain/backendInfo.ts';
import type { AttentionView } from '../../domain/readings.ts';
import { initialWeights, type Parameter, parameters, type Weights, type ModelConfig } from '../architecture.ts';
import {
  BackendError,
  checkTrainable,
  criticConfig,
  type Policy,
  type PolicySpec,
  type PolicyState,
} from '../policy.ts';
import type { StepStats } from '../policyReport.ts';
import type { LearningMath } from '../learningMath.ts';
import type { ObjectiveSettings, OptimizerSettings } from '../learningSettings.ts';
import { fullCapacity, createActivations, activationSize } from './activations.ts';
import { attentionMaps } from './attentionMaps.ts';
import type { ReferenceLoops } from './arithmetic.ts';
import { BatchPolicy } from '../learning/batchPolicy.ts';
import { CacheReader } from './cache.ts';
import { cpuCeilings } from './ceilings.ts';
import { Decoder } from '../learning/decoder.ts';
import { LogitsDrawer } from './logitsDrawer.ts';
import { LanguageHead, headSize } from './head.ts';
import { fillRotary } from './layers.ts';
import { accumulateGradients, scoreBatch, stepNetworks, type Learner } from './learner.ts';
import { MIN_PART_TOKENS } from './packing.ts';
import { createNetwork, tensorsOf, type Network, modelLayout } from './network.ts';
import { readNetwork, readPool, resetNetwork, writeNetwork } from '../learning/trainedTensors.ts';
import { type Real, type Precision, reals, bytesPer } from '../learning/real.ts';
import { openArithmetic, timedArithmetic, type TimedArithmetic } from './timedArithmetic.ts';
import { SIMD_NAME, type Threads } from './team/threads.ts';
import { rowPrefix } from './rowPrefix.ts';
import { forward, packedAttention } from './transformer.ts';

interface CpuPolicyOptions {
  readonly seed: number; // of the initial weights
  readonly loops?: ReferenceLoops; // in place of WebAssembly's
  readonly threads?: Threads | undefined; // one by default
  readonly reason: string; // why the GPU isn't used, as a sentence; '' if the CPU was asked for
}

const precisionOf = ({ loops }: CpuPolicyOptions): Precision => loops?.precision ?? 'f32';

/** Largest memory of a run, in bytes. A browser kills a tab that needs more, without a message. */
const MAX_BYTES = 4 * 2 ** 30;

/**
 * Creates a `Policy` that computes on the processor, the fallback if there is no GPU. Starts from `initialWeights(spec.model, seed)`. Throws
 * BackendError without WebAssembly SIMD, or if the run needs more memory than a tab has.
 */
export function createCpuPolicy(spec: PolicySpec, math: LearningMath, options: CpuPolicyOptions): CpuPolicy {
  checkTrainable(spec.model);
  const bytes = bytesNeeded(spec, precisionOf(options));
  if (bytes > MAX_BYTES) {
    const gibText = (n: number) => (n / 2 ** 30).toFixed(1);
    throw new BackendError(
      `The run needs ${gibText(bytes)} GiB. On the CPU at most ${gibText(MAX_BYTES)} GiB fit.`,
      'Use fewer or shorter rollouts, or a smaller model.',
      ['rows', 'length', 'width', 'layers'],
    );
  }
  return new CpuPolicy(spec, math, options, bytes);
}

/** Returns the threads that share passes, if passes can be divided. They share no single calls, which are too short. */
function passThreads({ minibatchRows, length }: PolicySpec, threads: Threads | undefined): Threads | undefined {
  const canDivide = minibatchRows * length >= 2 * MIN_PART_TOKENS;
  return threads && canDivide ? { ...threads, minWork: Infinity } : undefined;
}

/** Besides the methods of `Policy` it shows logits and gradients, for analysis and tests. */
export class CpuPolicy extends BatchPolicy implements Policy {
  readonly backend: BackendInfo;
  readonly parameters: readonly Parameter[];
  readonly memoryBytes: number;
  protected readonly decoder: Decoder;
  readonly #spec: PolicySpec;
  readonly #options: CpuPolicyOptions;
  readonly #timed: TimedArithmetic;
  readonly #network: Network;
  readonly #critic: Network | null;
  readonly #learner: Learner;
  readonly #reference: Real;
  #hasReference = false;

  constructor(spec: PolicySpec, math: LearningMath, options: CpuPolicyOptions, memoryBytes: number) {
    const { model, rows, length } = spec;
    super(spec, math, precisionOf(options));
    const threads = passThreads(spec, options.threads);
    this.#timed = timedArithmetic(openArithmetic(model, memoryBytes, options.loops, { threads }));
    const { arithmetic } = this.#timed;
    this.#spec = spec;
    this.#options = options;
    const capacity = fullCapacity(rows, length);
    const shownThreads = arithmetic.threads ? { adapter: SIMD_NAME, threads: arithmetic.threads } : {};
    const backend = { kind: 'cpu', adapter: arithmetic.name, software: false, storage: 'f32' } as const;
    this.backend = { ...backend, reason: options.reason, ...shownThreads };
    this.parameters = parameters(model);
    this.memoryBytes = memoryBytes;
    this.#network = createNetwork(model, arithmetic);
    this.#critic = spec.critic === 'separate' ? createNetwork(criticConfig(model), arithmetic) : null;
    this.#reference = arithmetic.reals(this.#network.size);
    const policy = { network: this.#network, buffers: createActivations(arithmetic, capacity) };
    this.#learner = {
      critic: spec.critic,
      policy,
      separateCritic: this.#critic && { network: this.#critic, buffers: createActivations(arithmetic, capacity) },
      head: new LanguageHead(arithmetic, capacity.tokens),
      rotary: arithmetic.reals(length * model.head_dim),
      batch: this.batch,
      math,
    };
    fillRotary(this.#learner.rotary, model);
    const reader = new CacheReader(this.batch, policy.buffers, this.#network.tensors, this.#learner.rotary);
    this.decoder = new Decoder(this.batch, new LogitsDrawer(this.batch, reader, arithmetic));
    this.writeWeights(initialWeights(model, options.seed));
  }

  score(temperature: number, want: { readonly reference: boolean; readonly values: boolean }): void {
    if (want.reference && !this.#hasReference) {
      throw new Error('score: there is no reference; call freezeReference first.');
    }
    const reference = want.reference ? tensorsOf(this.model, this.#network.layout, this.#reference) : null;
    this.submits++;
    scoreBatch(this.#learner, this.grammar, temperature, { reference, values: want.values });
  }

  learn(rows: Int32Array, objective: ObjectiveSettings, optimizer: OptimizerSettings, temperature: number): void {
    const stats = this.accumulate(rows, objective, temperature);
    stepNetworks(this.#learner, stats, optimizer);
    this.recordStep(stats);
  }

  /** The first half of `learn`: gradients and measurements, without a step. */
  accumulate(rows: Int32Array, objective: ObjectiveSettings, temperature: number): StepStats {
    return accumulateGradients(this.#learner, this.grammar, rows, objective, temperature);
  }

  freezeReference(): void {
    this.#reference.set(this.#network.weights);
    this.#hasReference = true;
  }

  readState(): Promise<PolicyState> {
    return Promise.resolve({
      policy: readNetwork(this.#network),
      critic: this.#critic && readNetwork(this.#critic),
    });
  }

  writeState(state: PolicyState): void {
    if ((state.critic === null) !== (this.#critic === null)) {
      throw new Error(
        `writeState: the state comes ${state.critic ? 'with' : 'without'} a separate critic, and this run is ${this.#critic ? 'with' : 'without'} one. Set critic as it was.`,
      );
    }
    writeNetwork(this.#network, state.policy);
    if (this.#critic && state.critic) writeNetwork(this.#critic, state.critic);
  }

  /** Also loads them into a separate critic, whose value head becomes zero. A missing value head becomes zero too. */
  writeWeights(weights: Weights): void {
    resetNetwork(this.#network, weights);
    if (!this.#critic) return;
    const withoutValueHead = new Map([...weights].filter(([name]) => !name.startsWith('value_head.')));
    resetNetwork(this.#critic, withoutValueHead);
  }

  override destroy(): void {
    super.destroy();
    this.#timed.arithmetic.team?.close();
  }

  /** Waits for the other threads, which are not needed: until one has started, the others compute its parts. */
  async whenStarted(): Promise<void> {
    await this.#timed.arithmetic.team?.whenStarted();
  }

  startProfile(now: () => number): void {
    this.#timed.start(now);
  }

  async profile(now: () => number): Promise<WorkProfile> {
    const kernels = this.#timed.work();
    return {
      clock: 'CPU',
      variant: this.backend.adapter,
      ceilings: await cpuCeilings(this.model, this.#options.loops, now),
      kernels,
      memory: memoryOf(this.#spec, precisionOf(this.#options)),
    };
  }

  /** (B,T,V) of the batch, untempered and unmasked. Those at position t predict token t + 1. Zero at padding. */
  logits(): Real {
    return fullLogits(this.#learner);
  }

  /** Returns (V) untempered logits after the first `count` tokens of row `row`. */
  nextLogits(row: number, count: number): Real {
    return nextLogits(this.#learner, row, count);
  }

  /** Those of the last learn() or accumulate(), before clipping. Those of a separate critic are named `critic.NAME`. */
  gradients(): Weights {
    const policyGradients = readPool(this.#network.layout, this.#network.gradients);
    if (!this.#critic) return policyGradients;
    const criticGradients = readPool(this.#critic.layout, this.#critic.gradients);
    return new Map([
      ...policyGradients,
      ...[...criticGradients].map(([name, tensor]) => [`critic.${name}`, tensor] as const),
    ]);
  }

  /** Returns the attention with which the policy chose the token after the first `count` tokens of row `row`. */
  attention(row: number, count: number): AttentionView {
    return attentionMaps(this.#learner, row, count);
  }

  /** Returns the gradients without those of a separate critic, as one array in layout order; not a copy. */
  gradientPool(): Real {
    return this.#network.gradients;
  }

  /** Returns the weights in layout order, not a copy. Tests change them, to compute finite differences in float64. */
  weightPool(): { readonly policy: Real; readonly critic: Real | null } {
    return { policy: this.#network.weights, critic: this.#critic?.weights ?? null };
  }
}

/** Runs one row at a time, because speed doesn't matter here. */
function fullLogits(learner: Learner): Real {
  const { batch, policy, head, rotary } = learner;
  const { buffers } = policy;
  const { tensors } = policy.network;
  const v = head.vocabulary;
  const out = reals(buffers.arithmetic.precision, batch.tokens.length * v);
  for (let b = 0; b < batch.rows; b++) {
    const count = batch.lengths[b]!;
    const start = b * batch.length;
    const packed = {
      count,
      tokens: batch.tokens.slice(start, start + count),
      positions: Int32Array.from({ length: count }, (_, t) => t),
    };
    forward(buffers, tensors, packed, rotary, packedAttention(buffers, packed, false), false);
    head.logits(out.subarray(start * v), buffers.hidden, tensors.head, count);
  }
  return out;
}

/** (V) after the first `count` tokens of a row, untempered and unmasked. Throws RangeError if the row has fewer tokens. */
function nextLogits({ batch, policy, head, rotary }: Learner, row: number, count: number): Real {
  const { buffers, network } = policy;
  const packed = rowPrefix(batch, row, count);
  forward(buffers, network.tensors, packed, rotary, packedAttention(buffers, packed, false), false);
  const out = reals(buffers.arithmetic.precision, head.vocabulary);
  head.logits(out, buffers.hidden.subarray((count - 1) * head.width), network.tensors.head, 1);
  return out;
}

/** Returns an upper bound of a policy's memory, by purpose: all rows are full, and all are in one minibatch. */
function memoryOf({ model, rows, length, critic }: PolicySpec, precision: Precision) {
  const scalarCount = (m: ModelConfig) => modelLayout(m).reduce((sum, p) => sum + p.size, 0);
  const capacity = fullCapacity(rows, length);
  const networks = critic === 'separate' ? [model, criticConfig(model)] : [model];
  const poolSize = networks.reduce((sum, m) => sum + scalarCount(m), 0);
  const cacheSize = 2 * model.num_hidden_layers * rows * length * model.num_key_value_heads * model.head_dim;
  const drawingSize = rows * (model.vocab_size + model.hidden_size + 1);
  const passSize = networks.length * activationSize(model, capacity) + headSize(model, capacity.tokens);
  const numberBytes = bytesPer(precision);
  return [
    { purpose: 'weights, the reference’s too', bytes: numberBytes * (poolSize + scalarCount(model)) },
    { purpose: 'gradients', bytes: numberBytes * poolSize },
    { purpose: 'Adam’s moments', bytes: numberBytes * 2 * poolSize },
    { purpose: 'activations and their gradients', bytes: numberBytes * (passSize + length * model.head_dim) },
    { purpose: 'key-value cache', bytes: numberBytes * cacheSize },
    { purpose: 'batch, credit and draws', bytes: numberBytes * (drawingSize + 7 * rows * length) + 85 * rows * length },
  ];
}

function bytesNeeded(spec: PolicySpec, precision: Precision): number {
  return memoryOf(spec, precision).reduce((sum, { bytes }) => sum + bytes, 0);
}
