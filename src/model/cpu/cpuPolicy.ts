import type { WorkProfile } from '../../domain/profile.ts';
import type { BackendInfo } from '../../domain/backendInfo.ts';
import type { AttentionView } from '../../domain/readings.ts';
import { initialWeights, parameters, type ModelConfig } from '../architecture.ts';
import { BackendError, criticConfig, type PolicySpec, type WantedScores } from '../policy.ts';
import type { LearningMath } from '../learningMath.ts';
import { contextsOf } from '../contexts.ts';
import { valueHead } from '../learning/valueHead.ts';
import { MIN_PART_TOKENS } from '../learning/tokenTree.ts';
import type { TrainedNetwork, TreeLearner } from '../learning/treeLearner.ts';
import { TreePolicy } from '../learning/treePolicy.ts';
import { type Activations, fullCapacity, createActivations, activationSize } from './activations.ts';
import { allGradients } from './weightGradients.ts';
import type { ReferenceLoops } from './arithmetic.ts';
import { CacheReader } from './cache.ts';
import { cpuCeilings } from './ceilings.ts';
import { Decoder } from '../learning/decoder.ts';
import { LogitsDrawer } from './logitsDrawer.ts';
import { LanguageHead, headSize } from './head.ts';
import { fillRotary } from './layers.ts';
import { createNetwork, tensorsOf, type Network, modelLayout } from './network.ts';
import { type Real, type Precision, reals, bytesPer } from '../learning/real.ts';
import { openArithmetic, timedArithmetic, type TimedArithmetic } from './timedArithmetic.ts';
import { PASS_PARTS } from './team/team.ts';
import { SIMD_NAME, type Threads } from './team/threads.ts';
import { CpuTreeNetwork } from './treeNetwork.ts';

interface CpuPolicyOptions {
  readonly seed: number; // of the initial weights
  readonly loops?: ReferenceLoops; // in place of WebAssembly's
  readonly threads?: Threads | undefined; // one by default
  readonly reason: string; // why the GPU isn't used, as a sentence; '' if the CPU was asked for
  readonly share?: boolean; // false: learning runs every row by itself, as a reference for tests; true by default
}

const precisionOf = ({ loops }: CpuPolicyOptions): Precision => loops?.precision ?? 'f32';

/** Scoring runs trees of about this many tokens, so that a layer's activations of a part stay in the processor's cache. */
const SCORED_TOKENS = 2048 * PASS_PARTS;

const noPause = () => Promise.resolve();

/** Largest memory of a run, in bytes. A browser kills a tab that needs more, without a message. */
const MAX_BYTES = 4 * 2 ** 30;

/**
 * Creates a `Policy` that computes on the processor, the fallback if there is no GPU. Starts from `initialWeights(spec.model, seed)`. Throws
 * BackendError without WebAssembly SIMD, or if the run needs more memory than a tab has.
 */
export function createCpuPolicy(spec: PolicySpec, math: LearningMath, options: CpuPolicyOptions): CpuPolicy {
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
export class CpuPolicy extends TreePolicy {
  readonly backend: BackendInfo;
  readonly memoryBytes: number;
  protected readonly decoder: Decoder;
  protected readonly learner: TreeLearner;
  readonly #spec: PolicySpec;
  readonly #options: CpuPolicyOptions;
  readonly #timed: TimedArithmetic;
  readonly #network: Network;
  readonly #critic: Network | null;
  readonly #treeNetwork: CpuTreeNetwork;

  constructor(spec: PolicySpec, math: LearningMath, options: CpuPolicyOptions, memoryBytes: number) {
    const { model, rows, length, minibatchRows } = spec;
    const threads = passThreads(spec, options.threads);
    const timed = timedArithmetic(openArithmetic(model, memoryBytes, options.loops, { threads }));
    const { arithmetic } = timed;
    const network = createNetwork(model, arithmetic);
    const critic = spec.critic === 'separate' ? createNetwork(criticConfig(model), arithmetic) : null;
    const learned = {
      parameters: parameters(model),
      trained: network,
      reference: arithmetic.reals(network.size),
      math,
    };
    super(spec, learned, precisionOf(options));
    this.#timed = timed;
    this.#spec = spec;
    this.#options = options;
    this.#network = network;
    this.#critic = critic;
    const shownThreads = arithmetic.threads ? { adapter: SIMD_NAME, threads: arithmetic.threads } : {};
    const backend = { kind: 'cpu', adapter: arithmetic.name, software: false, storage: 'f32' } as const;
    this.backend = { ...backend, reason: options.reason, ...shownThreads };
    this.memoryBytes = memoryBytes;
    const capacity = fullCapacity(rows, length);
    const head = new LanguageHead(arithmetic, capacity.tokens);
    const rotary = arithmetic.reals(length * model.head_dim);
    fillRotary(rotary, model);
    const treeNetworkOf = ({ tensors, gradientTensors }: Network, buffers: Activations) => {
      const gradients = allGradients(arithmetic, gradientTensors);
      return new CpuTreeNetwork({ gradients, buffers, head, rotary, hasBreaks: false }, tensors, this.grammar);
    };
    const trainedNetwork = (trained: Network, treeNetwork: CpuTreeNetwork): TrainedNetwork => ({
      ...{ trained, network: treeNetwork, valueHead: valueHead(trained) },
    });
    const buffers = createActivations(arithmetic, capacity);
    this.#treeNetwork = treeNetworkOf(network, buffers);
    // only a step over the whole batch can use its scores
    const reusesScoring = minibatchRows >= rows;
    this.learner = {
      ...trainedNetwork(network, this.#treeNetwork),
      separateCritic: critic && trainedNetwork(critic, treeNetworkOf(critic, createActivations(arithmetic, capacity))),
      ...{ batch: this.batch, math, layers: model.num_hidden_layers, width: model.hidden_size, reusesScoring },
      maxNodes: capacity.tokens,
      maxScoredNodes: reusesScoring ? capacity.tokens : SCORED_TOKENS,
      maxParts: PASS_PARTS,
      sharePrefixes: options.share ?? true,
      lastScoring: { tree: null, temperature: 1 },
      reportProgress: noPause,
    };
    const reader = new CacheReader(this.batch, buffers, network.tensors, rotary);
    this.decoder = new Decoder(this.batch, new LogitsDrawer(this.batch, reader, arithmetic));
    this.writeWeights(initialWeights(model, options.seed));
  }

  /** Also computes the values of a shared critic, wanted or not. */
  override score(temperature: number, want: WantedScores): Promise<void> {
    return super.score(temperature, { ...want, values: want.values || this.#spec.critic === 'shared' });
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
  async logits(): Promise<Real> {
    const { rows, length } = this.batch;
    const v = this.model.vocab_size;
    const out = reals(precisionOf(this.#options), rows * length * v);
    for (let row = 0; row < rows; row++) {
      for (const { start, end } of contextsOf(this.batch, row))
        out.set(await this.#treeNetwork.logits(this.rowBeginning(row, end), noPause), (row * length + start) * v);
    }
    return out;
  }

  /** Returns (V) untempered logits after the first `count` tokens of row `row`. */
  async nextLogits(row: number, count: number): Promise<Real> {
    return this.#treeNetwork.nextLogits(this.rowBeginning(row, count), noPause);
  }

  /** Returns the attention with which the policy chose the token after the first `count` tokens of row `row`. */
  async attention(row: number, count: number): Promise<AttentionView> {
    return this.#treeNetwork.attention(this.rowBeginning(row, count), count, noPause);
  }

  /** Returns the weights in layout order, not a copy. Tests change them, to compute finite differences in float64. */
  weightPool(): { readonly policy: Real; readonly critic: Real | null } {
    return { policy: this.#network.weights, critic: this.#critic?.weights ?? null };
  }

  protected useWeights(weights: Real): void {
    const { layout, tensors, weights: own } = this.#network;
    this.#treeNetwork.useWeights(weights === own ? tensors : tensorsOf(this.model, layout, weights));
  }
}

/** Returns an upper bound of a policy's memory, by purpose: all rows are full, and all are in one minibatch. */
function memoryOf({ model, rows, length, critic, teacher }: PolicySpec, precision: Precision) {
  const scalarCount = (m: ModelConfig) => modelLayout(m).reduce((sum, p) => sum + p.size, 0);
  const capacity = fullCapacity(rows, length);
  const networks = critic === 'separate' ? [model, criticConfig(model)] : [model];
  const poolSize = networks.reduce((sum, m) => sum + scalarCount(m), 0);
  const cacheSize = (2 * model.num_hidden_layers * model.num_key_value_heads * model.head_dim + 1) * rows * length;
  const drawingSize = rows * (model.vocab_size + model.hidden_size + 1);
  const passSize = networks.length * activationSize(model, capacity) + headSize(model, capacity.tokens);
  const numberBytes = bytesPer(precision);
  return [
    { purpose: 'weights, the reference’s too', bytes: numberBytes * (poolSize + scalarCount(model)) },
    { purpose: 'gradients', bytes: numberBytes * poolSize },
    { purpose: 'Adam’s moments', bytes: numberBytes * 2 * poolSize },
    { purpose: 'activations and their gradients', bytes: numberBytes * (passSize + length * model.head_dim) },
    { purpose: 'key-value cache', bytes: numberBytes * cacheSize },
    ...(teacher
      ? [{ purpose: 'the teacher’s distributions', bytes: numberBytes * rows * length * model.vocab_size }]
      : []),
    { purpose: 'batch, credit and draws', bytes: numberBytes * (drawingSize + 7 * rows * length) + 89 * rows * length },
  ];
}

function bytesNeeded(spec: PolicySpec, precision: Precision): number {
  return memoryOf(spec, precision).reduce((sum, { bytes }) => sum + bytes, 0);
}
