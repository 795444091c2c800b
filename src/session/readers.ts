import type { ReadingPolicy } from '../analysis/readingPolicy.ts';
import { openReplay, readingSpec, type Replay } from '../analysis/replay.ts';
import { createTermMath, type TermMath } from '../analysis/termMath.ts';
import { recordedLogprobs } from '../analysis/tokenDistribution.ts';
import type { RunConfig } from '../config/config.ts';
import type { KeptBatch } from '../domain/batch.ts';
import type { Cost } from '../domain/readings.ts';
import type { ToolEnv } from '../envs/env.ts';
import type { Weights } from '../model/architecture.ts';
import { createCpuPolicy, type CpuPolicy } from '../model/cpu/cpuPolicy.ts';
import type { Policy } from '../model/policy.ts';
import { learningMath } from '../rl/plainLearningMath.ts';
import type { RolloutAddress, DemonstratedStep } from '../wire/questions.ts';
import type { AnsweringPolicies } from './answeringPolicies.ts';
import type { RunHistory } from './history.ts';

export type KeptRollout = KeptBatch & { readonly row: number };

/**
 * Answers questions about a run, with the run's history and with separate policies on the CPU. These policies get
 * copies of the run's weights, so they can't touch its batch, caches, moments or draws. CPU and GPU policies agree up
 * to float32 rounding. If the run trains adapters, such a policy is a second copy of the whole model, so an answer can
 * be too expensive to compute without asking.
 */
export class Readers {
  readonly policy: Policy;
  readonly env: ToolEnv;
  readonly history: RunHistory;
  /** The weights that the page calls those before training: before imitation for adapters, otherwise after it. */
  readonly initialWeights: () => Weights;
  /** The weights of the reference policy: after imitation. */
  readonly referenceWeights: () => Weights;
  /** The run's current knobs. They may have changed since a rollout was drawn. */
  readonly config: () => RunConfig;
  /** The demonstrations that the run is imitating now; null if it isn't imitating. */
  readonly demonstrations: () => DemonstratedStep | null;
  readonly adaptedPolicies: AnsweringPolicies | null; // only for a run that trains adapters
  readonly #seed: number;
  #reader: CpuPolicy | null = null;
  #replay: Replay | null = null;
  #math: TermMath | null = null; // for the replay of a run that trains adapters

  /** Opens nothing yet. Memory is taken at the first question that needs a policy. */
  constructor({
    policy,
    env,
    history,
    initialWeights,
    referenceWeights,
    config,
    demonstrations,
    adaptedPolicies,
  }: Pick<
    Readers,
    | 'policy'
    | 'env'
    | 'history'
    | 'initialWeights'
    | 'referenceWeights'
    | 'config'
    | 'demonstrations'
    | 'adaptedPolicies'
  >) {
    this.policy = policy;
    this.env = env;
    this.history = history;
    this.initialWeights = initialWeights;
    this.referenceWeights = referenceWeights;
    this.config = config;
    this.demonstrations = demonstrations;
    this.adaptedPolicies = adaptedPolicies;
    this.#seed = config().seed;
  }

  /** Has one row and these weights; every call returns the same policy. Throws BackendError if there isn't enough memory. */
  async rowPolicy(weights: Weights, config: RunConfig): Promise<ReadingPolicy> {
    const spec = readingSpec(this.policy, 1);
    const reader = this.adaptedPolicies
      ? await this.adaptedPolicies.open(spec, learningMath, this.#seed)
      : (this.#reader ??= createCpuPolicy(spec, learningMath, { seed: this.#seed, reason: '' }));
    reader.writeWeights(weights);
    reader.setGrammar(this.grammar(config));
    return reader;
  }

  /** Repeats updates; every call returns the same. With adapters it replaces the policy with one row. Throws as `rowPolicy` does. */
  async batchReplay(config: RunConfig): Promise<Replay> {
    const replay = this.adaptedPolicies ? await this.#replayAdapters(this.adaptedPolicies) : this.#ownReplay();
    replay.policy.setGrammar(this.grammar(config));
    return replay;
  }

  /** Log-probabilities of all tokens of a batch with these weights. */
  async batchLogprobs(weights: Weights, { batch, config }: KeptBatch): Promise<Float32Array> {
    // rows that are read together share their common beginning
    const reader = this.adaptedPolicies
      ? (await this.batchReplay(config)).policy
      : await this.rowPolicy(weights, config);
    if (this.adaptedPolicies) reader.writeWeights(weights);
    return recordedLogprobs(reader, batch, config.temperature);
  }

  /** The cost of `tokens` tokens through `rows` rows. Null if it's small, as always in a run that doesn't train adapters. */
  async highCost(tokens: number, rows: number): Promise<Cost | null> {
    const cost = await this.adaptedPolicies?.cost(readingSpec(this.policy, rows), tokens);
    return cost && (cost.seconds > CHEAP_SECONDS || cost.bytes > CHEAP_BYTES) ? cost : null;
  }

  yieldToEvents(): Promise<void> {
    return this.adaptedPolicies?.yieldToEvents() ?? Promise.resolve();
  }

  /** Does work on about `tokens` tokens and times it, to estimate the cost of later answers. */
  timed<T>(tokens: number, work: () => Promise<T>): Promise<T> {
    return this.adaptedPolicies ? this.adaptedPolicies.timed(readingSpec(this.policy, 1), tokens, work) : work();
  }

  #ownReplay(): Replay {
    return (this.#replay ??= openReplay(this.policy, this.#seed));
  }

  async #replayAdapters(answering: AnsweringPolicies): Promise<Replay> {
    const math = (this.#math ??= createTermMath());
    return { policy: await answering.open(readingSpec(this.policy, this.policy.rows), math, this.#seed), math };
  }

  /** The grammar under which a configuration draws tokens. */
  grammar(config: RunConfig): ReturnType<ToolEnv['grammar']> {
    return this.env.grammar(config.grammar === 'on');
  }

  /** Another run's weights. Throws with the reason if this run's model can't take them. */
  fitting(weights: Weights): Weights {
    const { parameters } = this.policy;
    if (weights.size === parameters.length && parameters.every(({ name, size }) => weights.get(name)?.length === size))
      return weights;
    throw new Error('That run’s model has another size or other parts, so it can’t be asked in place of this one.');
  }

  async currentWeights(): Promise<Weights> {
    return this.history.newestWeights() ?? (await this.policy.readState()).policy.weights;
  }

  /** Calls `ask` with the weights before an update and then with those after it. Null for weights that aren't kept. */
  async beforeAndAfter<T>(update: number, ask: (weights: Weights) => T | Promise<T>) {
    const [before, after] = [this.history.state(update - 1)?.weights, this.history.state(update)?.weights];
    return { before: before ? await ask(before) : null, after: after ? await ask(after) : null };
  }

  /** The batch that an update learned from. Throws when it is not kept. */
  batch(update: number): KeptBatch {
    const entry = this.history.batch(update);
    if (!entry) throw new Error(`The rollouts of update ${update} are no longer kept.`);
    return entry;
  }

  /** A rollout or a branch. Throws when it is not kept. */
  rollout(of: RolloutAddress): KeptRollout {
    if ('update' in of) return { ...this.batch(of.update), row: of.row };
    const entry = this.history.branch(of.branch);
    if (!entry) throw new Error('This branch is no longer kept. Create it again.');
    return { ...entry, row: 0 };
  }

  dispose(): void {
    this.adaptedPolicies?.close();
    this.#reader?.destroy();
    this.#replay?.policy.destroy();
  }
}

/** An answer that takes more time than this is computed only if the question asks for it anyway. */
const CHEAP_SECONDS = 30;
/** An answer that takes more memory than this, in bytes, is computed only if the question asks for it anyway. */
const CHEAP_BYTES = 2 ** 28;
