import type { BackendInfo } from '../../domain/backendInfo.ts';
import type { WorkProfile } from '../../domain/profile.ts';
import type { Grammar } from '../../domain/tokens.ts';
import type { Parameter, Weights } from '../architecture.ts';
import type { LearningMath } from '../learningMath.ts';
import type { Policy, PolicySpec, PolicyState, WantedScores } from '../policy.ts';
import type { StepStats } from '../policyReport.ts';
import type { ObjectiveSettings, OptimizerSettings } from '../learningSettings.ts';
import { writeExpertRows } from './expertRows.ts';
import { BatchPolicy } from './batchPolicy.ts';
import { type TrainedTensors, readNetwork, readPool, resetNetwork, writeNetwork } from './trainedTensors.ts';
import type { Precision, Real } from './real.ts';
import { rowBeginning, type TokenTree } from './tokenTree.ts';
import { accumulateGradients, scoreAll, stepNetworks, type TreeLearner } from './treeLearner.ts';

export interface TreePolicyParts {
  readonly parameters: readonly Parameter[];
  readonly trained: TrainedTensors;
  readonly reference: Real; // memory for the reference: as large as the pool of `trained`
  readonly math: LearningMath;
}

/** A policy that learns over trees of tokens: all weights or adapters, on any device. It also shows gradients, for analysis and tests. */
export abstract class TreePolicy extends BatchPolicy implements Policy {
  abstract readonly backend: BackendInfo;
  abstract readonly memoryBytes: number;
  protected abstract readonly learner: TreeLearner;
  readonly parameters: readonly Parameter[];
  readonly #parts: TreePolicyParts;
  #hasReference = false;

  constructor(spec: PolicySpec, parts: TreePolicyParts, precision: Precision) {
    super(spec, parts.math, precision);
    this.parameters = parts.parameters;
    this.#parts = parts;
  }

  async score(temperature: number, want: WantedScores): Promise<void> {
    const readsReference = want.reference || want.teacher === 'reference';
    if (readsReference && !this.#hasReference) {
      throw new Error('score: there is no reference; call freezeReference first.');
    }
    const { batch } = this;
    this.submits++;
    this.batchChanged();
    if (want.teacher) this.#beginTeacher(want.teacher);
    if (readsReference) {
      this.#compute(this.#parts.reference);
      try {
        // the reference's entropies and values aren't used: learn() overwrites these arrays before it reads them
        const referenceScores = { logprobs: batch.refLogprobs, entropies: batch.entropies, values: batch.values };
        const teacher = { rows: batch, writes: true };
        await scoreAll(this.learner, temperature, false, referenceScores, want.teacher === 'reference' ? teacher : undefined); // prettier-ignore
      } finally {
        this.#compute(this.#parts.trained.weights);
      }
    }
    const oldScores = { logprobs: batch.oldLogprobs, entropies: batch.oldEntropies, values: batch.oldValues };
    const teacher = want.teacher && { rows: batch, writes: false };
    await scoreAll(this.learner, temperature, want.values, oldScores, teacher);
    if (!readsReference) batch.refLogprobs.set(batch.oldLogprobs);
  }

  #beginTeacher(teacher: NonNullable<WantedScores['teacher']>): void {
    const { teacherTable, teacherMask } = this.batch;
    if (teacherTable.length === 0) throw new Error('score: this policy was made without a teacher.');
    if (teacher === 'reference') teacherMask.fill(1);
    else writeExpertRows({ teacherTable, teacherMask }, teacher, this.grammar);
  }

  async learn(
    rows: Int32Array,
    objective: ObjectiveSettings,
    optimizer: OptimizerSettings,
    temperature: number,
  ): Promise<void> {
    const stats = await this.accumulate(rows, objective, temperature);
    stepNetworks(this.learner, stats, optimizer);
    if (stats.skipped === '' && !optimizer.criticOnly) this.weightsChanged();
    this.recordStep(stats);
  }

  /** The first half of `learn`: gradients and measurements, without a step. */
  accumulate(rows: Int32Array, objective: ObjectiveSettings, temperature: number): Promise<StepStats> {
    return accumulateGradients(this.learner, rows, objective, temperature);
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
    const { trained, separateCritic } = this.learner;
    return Promise.resolve({
      policy: readNetwork(trained),
      critic: separateCritic ? readNetwork(separateCritic.trained) : null,
    });
  }

  writeState(state: PolicyState): void {
    const { trained, separateCritic } = this.learner;
    if ((state.critic === null) !== !separateCritic) {
      throw new Error(
        `writeState: the state comes ${state.critic ? 'with' : 'without'} a separate critic, and this run is ${separateCritic ? 'with' : 'without'} one. Set critic as it was.`,
      );
    }
    writeNetwork(trained, state.policy);
    if (separateCritic && state.critic) writeNetwork(separateCritic.trained, state.critic);
    this.weightsChanged();
  }

  /**
   * Loads weights and resets the optimizer. Also loads them into a separate critic, whose value head becomes zero. A
   * missing value head becomes zero too.
   */
  writeWeights(weights: Weights): void {
    const { trained, separateCritic } = this.learner;
    resetNetwork(trained, weights);
    if (separateCritic) {
      const withoutValueHead = new Map([...weights].filter(([name]) => !name.startsWith('value_head.')));
      resetNetwork(separateCritic.trained, withoutValueHead);
    }
    this.weightsChanged();
  }

  /** Those of the last learn() or accumulate(), before clipping. Those of a separate critic are named `critic.NAME`. */
  gradients(): Weights {
    const { trained, separateCritic } = this.learner;
    const own = readPool(trained.layout, trained.gradients);
    if (!separateCritic) return own;
    const { layout, gradients } = separateCritic.trained;
    return new Map([...own, ...[...readPool(layout, gradients)].map(([name, x]) => [`critic.${name}`, x] as const)]);
  }

  /** Returns the gradients without those of a separate critic, as one array, in the order of `parameters`; not a copy. */
  gradientPool(): Real {
    return this.#parts.trained.gradients;
  }

  abstract startProfile(now: () => number): void;
  abstract profile(now: () => number): Promise<WorkProfile>;

  protected override batchChanged(): void {
    this.learner.lastScoring.tree = null;
  }

  /** Makes the network compute with these weights, in the layout of the trained ones. */
  protected abstract useWeights(weights: Real): void;

  /** A tree of the first `count` tokens of a row. Running it overwrites the activations of the last scoring, so that isn't reused. */
  protected rowBeginning(row: number, count: number): TokenTree {
    const tree = rowBeginning(this.batch, row, count);
    this.learner.lastScoring.tree = null;
    return tree;
  }

  /** Computes with other weights. This invalidates the results of passes over the batch. */
  #compute(weights: Real): void {
    this.batchChanged();
    this.useWeights(weights);
  }

  /** Call it after the weights change. Clears the cached keys and values, too. */
  protected weightsChanged(): void {
    this.#compute(this.#parts.trained.weights);
    this.decoder.clearCache();
  }
}
