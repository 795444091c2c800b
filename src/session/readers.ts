import { openReplay, type Replay } from '../analysis/replay.ts';
import type { RunConfig } from '../config/config.ts';
import type { KeptBatch } from '../domain/batch.ts';
import type { ToolEnv } from '../envs/env.ts';
import type { Weights } from '../model/architecture.ts';
import { createCpuPolicy, type CpuPolicy } from '../model/cpu/policy.ts';
import type { Policy } from '../model/policy.ts';
import { learningMath } from '../rl/learningMath.ts';
import type { RolloutAddress } from '../wire/questions.ts';
import type { RunHistory } from './history.ts';

/** A rollout with the batch it lies in and the configuration of that. */
export type KeptRollout = KeptBatch & { readonly row: number };

/**
 * What questions about a run are answered with: its history, and policies of its own, on the CPU whatever the run computes on. They
 * get copies of the run's weights, so its batch, caches, moments and draws are out of reach. The CPU and GPU policies agree to
 * float32 rounding.
 */
export class Readers {
  readonly policy: Policy;
  readonly env: ToolEnv;
  readonly history: RunHistory;
  readonly begun: Weights; // before any training
  /** As the run has them now: knobs may have moved since a rollout was drawn. */
  readonly config: () => RunConfig;
  readonly adapted: boolean; // its weights are adapters beside a checkpoint
  readonly #seed: number;
  #reader: CpuPolicy | null = null;
  #replay: Replay | null = null;

  /** Opens nothing yet: a reader takes memory only once it is asked for. */
  constructor({
    policy,
    env,
    history,
    begun,
    config,
    adapted,
  }: Pick<Readers, 'policy' | 'env' | 'history' | 'begun' | 'config' | 'adapted'>) {
    this.policy = policy;
    this.env = env;
    this.history = history;
    this.begun = begun;
    this.config = config;
    this.adapted = adapted;
    this.#seed = config().seed;
  }

  /** A policy of one row with these weights. There is one: the last call's weights are gone. Throws where they are adapters. */
  reading(weights: Weights, config: RunConfig): CpuPolicy {
    if (this.adapted) throw new Error(NO_SECOND);
    const { model, length } = this.policy;
    const critic = model.value_head ? 'shared' : 'none';
    const spec = { model, critic, rows: 1, length, minibatchRows: 1 } as const;
    this.#reader ??= createCpuPolicy(spec, learningMath, { precision: 'f32', seed: this.#seed, reason: '' });
    this.#reader.writeWeights(weights);
    this.#reader.setGrammar(this.grammar(config));
    return this.#reader;
  }

  /** A policy with room for a whole batch, to do updates again in. There is one. Throws where weights are adapters. */
  replaying(config: RunConfig): Replay {
    if (this.adapted) throw new Error(NO_SECOND);
    this.#replay ??= openReplay(this.policy, this.#seed);
    this.#replay.policy.setGrammar(this.grammar(config));
    return this.#replay;
  }

  /** The grammar that a configuration draws under. */
  grammar(config: RunConfig): ReturnType<ToolEnv['grammar']> {
    return this.env.grammar(config.grammar === 'on');
  }

  /** The weights as they are. */
  async current(): Promise<Weights> {
    return this.history.newestWeights() ?? (await this.policy.readState()).policy.weights;
  }

  /** What the weights before and after an update say, one after the other: they share the reader. Null for those that are not kept. */
  async around<T>(update: number, ask: (weights: Weights) => T | Promise<T>) {
    const [before, after] = [this.history.state(update - 1)?.weights, this.history.state(update)?.weights];
    return { before: before ? await ask(before) : null, after: after ? await ask(after) : null };
  }

  /** The batch that an update learned from. Throws when it is not kept. */
  batch(update: number): KeptBatch {
    const kept = this.history.batch(update);
    if (!kept) throw new Error(`The rollouts of update ${update} are not kept any more.`);
    return kept;
  }

  /** A rollout or a branch. Throws when it is not kept. */
  rollout(of: RolloutAddress): KeptRollout {
    if ('update' in of) return { ...this.batch(of.update), row: of.row };
    const kept = this.history.branch(of.branch);
    if (!kept) throw new Error('This branch is not kept any more. Play it anew.');
    return { ...kept, row: 0 };
  }

  /** Gives their memory back. */
  dispose(): void {
    this.#reader?.destroy();
    this.#replay?.policy.destroy();
  }
}

const NO_SECOND =
  'A run on a checkpoint cannot be asked this yet: it would take the model a second time, in full. What was drawn, its log-probabilities, rewards and credit are in the rollout.';
