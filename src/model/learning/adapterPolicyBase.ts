import type { BackendInfo } from '../../domain/backendInfo.ts';
import type { WorkProfile } from '../../domain/profile.ts';
import type { Grammar } from '../../domain/tokens.ts';
import { type AdapterConfig, adapterParameters, initialAdapters } from '../loraAdapters.ts';
import type { Parameter, Weights } from '../architecture.ts';
import type { LearningMath } from '../learningMath.ts';
import type { Policy, PolicySpec, PolicyState } from '../policy.ts';
import type { StepStats } from '../policyReport.ts';
import type { ObjectiveSettings, OptimizerSettings } from '../learningSettings.ts';
import { BatchPolicy } from './batchPolicy.ts';
import { type TrainedTensors, readNetwork, readPool, resetNetwork, writeNetwork } from './trainedTensors.ts';
import { adamW } from './optimizer.ts';
import type { Real } from './real.ts';
import { accumulateAdapted, type AdaptedLearner, scoreAll } from './adaptedLearner.ts';

export interface AdapterPolicyParts {
  readonly adapters: AdapterConfig;
  readonly trained: TrainedTensors;
  readonly reference: Real; // memory for the adapters of the reference
  readonly math: LearningMath;
}

/** The part that CPU and GPU share. Besides the methods of `Policy` it shows gradients, for tests. */
export abstract class AdapterPolicyBase extends BatchPolicy implements Policy {
  abstract readonly backend: BackendInfo;
  abstract readonly memoryBytes: number;
  protected abstract readonly learner: AdaptedLearner;
  readonly parameters: readonly Parameter[];
  readonly #parts: AdapterPolicyParts;
  #hasReference = false;

  constructor(spec: PolicySpec, parts: AdapterPolicyParts, precision: 'f32' | 'f64') {
    super(spec, parts.math, precision);
    this.parameters = adapterParameters(spec.model, parts.adapters);
    this.#parts = parts;
  }

  async score(temperature: number, want: { readonly reference: boolean; readonly values: boolean }): Promise<void> {
    if (want.reference && !this.#hasReference) {
      throw new Error('score: there is no reference; call freezeReference first.');
    }
    const { batch } = this;
    this.submits++;
    this.batchChanged();
    if (want.reference) {
      this.#merge(this.#parts.reference);
      try {
        // the reference's entropies and values aren't used: learn() overwrites these arrays before it reads them
        const referenceScores = { logprobs: batch.refLogprobs, entropies: batch.entropies, values: batch.values };
        await scoreAll(this.learner, temperature, false, referenceScores);
      } finally {
        this.#merge(this.#parts.trained.weights);
      }
    }
    const oldScores = { logprobs: batch.oldLogprobs, entropies: batch.oldEntropies, values: batch.oldValues };
    await scoreAll(this.learner, temperature, want.values, oldScores);
    if (!want.reference) batch.refLogprobs.set(batch.oldLogprobs);
  }

  async learn(
    rows: Int32Array,
    objective: ObjectiveSettings,
    optimizer: OptimizerSettings,
    temperature: number,
  ): Promise<void> {
    const stats = await this.accumulate(rows, objective, temperature);
    if (stats.skipped === '' && !optimizer.criticOnly) {
      adamW(this.#parts.trained, stats.gradNorm, optimizer.learningRate, optimizer);
      this.adaptersChanged();
    }
    this.recordStep(stats);
  }

  /** The first half of `learn`: gradients and measurements, without a step. */
  accumulate(rows: Int32Array, objective: ObjectiveSettings, temperature: number): Promise<StepStats> {
    return accumulateAdapted(this.learner, rows, objective, temperature);
  }

  override setGrammar(grammar: Grammar): void {
    super.setGrammar(grammar);
    this.learner.network.setGrammar(grammar);
    this.batchChanged();
  }

  freezeReference(): void {
    this.#parts.reference.set(this.#parts.trained.weights);
    this.#hasReference = true;
  }

  readState(): Promise<PolicyState> {
    return Promise.resolve({ policy: readNetwork(this.#parts.trained), critic: null });
  }

  writeState(state: PolicyState): void {
    if (state.critic !== null) {
      throw new Error(
        'writeState: the state comes with a separate critic, and this run is without one. Set critic as it was.',
      );
    }
    writeNetwork(this.#parts.trained, state.policy);
    this.adaptersChanged();
  }

  /** Loads adapters and resets the optimizer. A missing value head becomes zero. */
  writeWeights(weights: Weights): void {
    resetNetwork(this.#parts.trained, weights);
    this.adaptersChanged();
  }

  /** Returns the gradients of the last learn() or accumulate(), before clipping. */
  gradients(): Weights {
    return readPool(this.#parts.trained.layout, this.#parts.trained.gradients);
  }

  /** Returns the gradients as one array, in the order of `parameters`; not a copy. */
  gradientPool(): Real {
    return this.#parts.trained.gradients;
  }

  abstract startProfile(now: () => number): void;
  abstract profile(now: () => number): Promise<WorkProfile>;

  protected reset(seed: number): void {
    this.writeWeights(initialAdapters(this.model, this.#parts.adapters, seed));
  }

  protected override batchChanged(): void {
    this.learner.lastScoring.tree = null;
  }

  protected abstract mergeIn(weights: Real): void;

  /** Merges other adapters. This invalidates the cached results of passes over the batch. */
  #merge(weights: Real): void {
    this.batchChanged();
    this.mergeIn(weights);
  }

  /** Call it after the adapters change: merges them again and clears the cached keys and values. */
  protected adaptersChanged(): void {
    this.#merge(this.#parts.trained.weights);
    this.decoder.clearCache();
  }
}
