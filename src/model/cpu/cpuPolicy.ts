import type { WorkProfile } from '../../domain/profile.ts';
import type { BackendInfo } from '../../domain/backendInfo.ts';
import type { AttentionView } from '../../domain/readings.ts';
import { initialWeights, type Parameter, parameters, type Weights } from '../architecture.ts';
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
import { capacityOf, createActivations } from './activations.ts';
import { attentionMaps } from './attentionMaps.ts';
import { BatchPolicy } from './batchPolicy.ts';
import { bytesNeeded, memoryOf } from './bytes.ts';
import { CacheReader } from './cacheReader.ts';
import { cpuCeilings } from './ceilings.ts';
import { Decoder } from './decoder.ts';
import { LanguageHead } from './head.ts';
import { fillRotary } from './layers.ts';
import { accumulateGradients, scoreBatch, stepNetworks, type Learner } from './learner.ts';
import { fullLogits, nextLogits } from './logits.ts';
import {
  createNetwork,
  readNetwork,
  readPool,
  resetNetwork,
  tensorsOf,
  writeNetwork,
  type Network,
} from './network.ts';
import type { CpuPolicyOptions } from './options.ts';
import type { Real } from './real.ts';
import { openArithmetic, timedArithmetic, type TimedArithmetic } from './timed.ts';

/** Most bytes a run may need: a tab that asks for more is killed without a word. */
const MOST_BYTES = 4 * 2 ** 30;

/**
 * The `Policy` on one core: the fallback where there is no GPU, in WebAssembly SIMD, and the oracle of the tests, in plain
 * TypeScript. Starts from `initialWeights(spec.model, seed)`. Throws BackendError when the run would need more memory than a tab has.
 */
export function createCpuPolicy(spec: PolicySpec, math: LearningMath, options: CpuPolicyOptions): CpuPolicy {
  checkTrainable(spec.model);
  const bytes = bytesNeeded(spec, options.precision);
  if (bytes > MOST_BYTES) {
    const gib = (n: number) => (n / 2 ** 30).toFixed(1);
    throw new BackendError(
      `The run needs ${gib(bytes)} GiB; want at most ${gib(MOST_BYTES)} GiB on the CPU.`,
      'Use fewer prompts, smaller groups, shorter episodes, or a smaller model.',
      ['prompts', 'groupSize', 'width', 'layers'],
    );
  }
  return new CpuPolicy(spec, math, options, bytes);
}

/** See `createCpuPolicy`. Beyond the seam it shows logits and gradients, for analysis, tests and golden numbers. */
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
    const { precision, simd = true } = options;
    super(spec, math, precision);
    this.#timed = timedArithmetic(openArithmetic(model, precision, memoryBytes, simd));
    const { arithmetic } = this.#timed;
    this.#spec = spec;
    this.#options = options;
    const capacity = capacityOf(rows, length);
    this.backend = { kind: 'cpu', adapter: arithmetic.name, software: false, storage: 'f32', reason: options.reason };
    this.parameters = parameters(model);
    this.memoryBytes = memoryBytes;
    this.#network = createNetwork(model, arithmetic);
    this.#critic = spec.critic === 'separate' ? createNetwork(criticConfig(model), arithmetic) : null;
    this.#reference = arithmetic.reals(this.#network.size);
    const policy = { network: this.#network, room: createActivations(arithmetic, capacity) };
    this.#learner = {
      critic: spec.critic,
      policy,
      separate: this.#critic && { network: this.#critic, room: createActivations(arithmetic, capacity) },
      head: new LanguageHead(arithmetic, capacity.tokens),
      rotary: arithmetic.reals(length * model.head_dim),
      batch: this.batch,
      math,
    };
    fillRotary(this.#learner.rotary, model);
    const reader = new CacheReader(this.batch, policy.room, this.#network.tensors, this.#learner.rotary);
    this.decoder = new Decoder(this.batch, reader, arithmetic);
    this.writeWeights(initialWeights(model, options.seed));
  }

  score(temperature: number, want: { readonly reference: boolean; readonly values: boolean }): void {
    if (want.reference && !this.#hasReference) {
      throw new Error('score: there is no reference; call freezeReference first.');
    }
    const reference = want.reference ? tensorsOf(this.model, this.#network.placed, this.#reference) : null;
    this.submits++;
    scoreBatch(this.#learner, this.grammar, temperature, { reference, values: want.values });
  }

  learn(rows: Int32Array, objective: ObjectiveSettings, optimizer: OptimizerSettings, temperature: number): void {
    const stats = this.accumulate(rows, objective, temperature);
    stepNetworks(this.#learner, stats, optimizer);
    this.learnedBy(stats);
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
        `writeState: got a state ${state.critic ? 'with' : 'without'} a separate critic; want one ${this.#critic ? 'with' : 'without'}. Set critic as it was.`,
      );
    }
    writeNetwork(this.#network, state.policy);
    if (this.#critic && state.critic) writeNetwork(this.#critic, state.critic);
  }

  /** Also loads the trunk into a separate critic, whose value head becomes zero; a value head that is not given is zero too. */
  writeWeights(weights: Weights): void {
    resetNetwork(this.#network, weights);
    if (!this.#critic) return;
    const trunk = new Map([...weights].filter(([name]) => !name.startsWith('value_head.')));
    resetNetwork(this.#critic, trunk);
  }

  tally(now: () => number): void {
    this.#timed.start(now);
  }

  async profile(now: () => number): Promise<WorkProfile> {
    const { precision, simd = true } = this.#options;
    const kernels = this.#timed.work();
    return {
      clock: 'CPU',
      variant: this.backend.adapter,
      ceilings: await cpuCeilings(this.model, precision, simd, now),
      kernels,
      memory: memoryOf(this.#spec, precision),
    };
  }

  /** (B,T,V) logits of the batch, untempered and unmasked: entry t follows token t and predicts t + 1; zero at pads. */
  logits(): Real {
    return fullLogits(this.#learner);
  }

  /** (V) untempered logits after the first `count` tokens of row `row`. */
  nextLogits(row: number, count: number): Real {
    return nextLogits(this.#learner, row, count);
  }

  /** Gradients of the last learn() or accumulate(), before clipping; a separate critic's are named `critic.NAME`. */
  gradients(): Weights {
    const own = readPool(this.#network.placed, this.#network.gradients);
    if (!this.#critic) return own;
    const critics = readPool(this.#critic.placed, this.#critic.gradients);
    return new Map([...own, ...[...critics].map(([name, tensor]) => [`critic.${name}`, tensor] as const)]);
  }

  /** What the policy looked at when row `row` had its first `count` tokens and the next was to be chosen. */
  attention(row: number, count: number): AttentionView {
    return attentionMaps(this.#learner, row, count);
  }

  /** Gradients of the policy's own tensors as `gradients` has them, in layout order; not a copy. */
  gradientPool(): Real {
    return this.#network.gradients;
  }

  /** The weights themselves, not a copy, in layout order: for finite differences in float64. */
  weightPool(): { readonly policy: Real; readonly critic: Real | null } {
    return { policy: this.#network.weights, critic: this.#critic?.weights ?? null };
  }
}
