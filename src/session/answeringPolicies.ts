import type { BaseCheckpoint } from '../checkpoints/baseCheckpoint.ts';
import type { Cost } from '../domain/cost.ts';
import type { AdapterConfig } from '../model/loraAdapters.ts';
import { parameters } from '../model/architecture.ts';
import type { AdaptedPolicy } from '../model/cpu/adapters/cpuAdaptedPolicy.ts';
import type { LearningMath } from '../model/learningMath.ts';
import type { PolicySpec } from '../model/policy.ts';
import type { Host } from './host.ts';

/** Products a second on one core before any were timed: about what WebAssembly SIMD does on cores of the last years. */
const FIRST_RATE = 20e9;
/** A shorter reading says little about the rate. */
const LEAST_TIMED = 500; // ms
/** Tokens of a pass of a whole batch; few, so that its activations stay small beside the weights. */
const MOST_TOKENS = 1024;

type ReaderHost = Pick<Host, 'yieldToEvents' | 'now' | 'threads'>;

/**
 * Policies with a run's adapters and its checkpoint's weights a second time, to answer questions with: on the CPU whatever the run computes on, and
 * one at a time, for each takes the whole model. They stop for the event loop between layers, so the run goes on meanwhile.
 */
export class AnsweringPolicies {
  readonly #base: Pick<BaseCheckpoint, 'weights'>;
  readonly #adapters: AdapterConfig;
  readonly #host: ReaderHost;
  #rate = FIRST_RATE; // floating-point operations a second
  #open: { readonly policy: AdaptedPolicy; readonly math: LearningMath; readonly rows: number } | null = null;

  /** Reads and allocates nothing yet. */
  constructor(base: Pick<BaseCheckpoint, 'weights'>, adapters: AdapterConfig, host: ReaderHost) {
    this.#base = base;
    this.#adapters = adapters;
    this.#host = host;
  }

  /** One of that size and mathematics; the one before gives its memory back where it is another. Throws BackendError where there is no memory for it. */
  async open(spec: PolicySpec, math: LearningMath, seed: number): Promise<AdaptedPolicy> {
    if (this.#open?.math === math && this.#open.rows === spec.rows) return this.#open.policy;
    this.close();
    const { openCpuAdaptedPolicy } = await import('../model/cpu/adapters/cpuAdaptedPolicy.ts');
    const { yieldToEvents, threads } = this.#host;
    const options = {
      seed,
      reason: '',
      between: yieldToEvents,
      yieldToEvents,
      ...(threads && { threads }),
      ...roomOf(spec),
    };
    const policy = await openCpuAdaptedPolicy(spec, this.#base.weights, this.#adapters, math, options);
    this.#open = { policy, math, rows: spec.rows };
    return policy;
  }

  /** Lets the event loop run. */
  yieldToEvents(): Promise<void> {
    return this.#host.yieldToEvents();
  }

  /** What it takes to open one, and to run `tokens` tokens through its network; what is open already takes no more memory. */
  async cost(spec: PolicySpec, tokens: number): Promise<Cost> {
    const { adaptedPolicyMemory } = await import('../model/cpu/adapters/memory.ts');
    const parts = adaptedPolicyMemory(spec, this.#base.weights, this.#adapters, roomOf(spec));
    const bytes = this.#open && this.#open.rows >= spec.rows ? 0 : parts.reduce((sum, part) => sum + part.bytes, 0);
    return { seconds: (tokens * flopsOf(spec)) / this.#rate, bytes };
  }

  /** Does work on about `tokens` tokens, and learns from it how fast this machine is. */
  async timed<T>(spec: PolicySpec, tokens: number, work: () => Promise<T>): Promise<T> {
    const began = this.#host.now();
    const done = await work();
    const spent = this.#host.now() - began;
    if (spent > LEAST_TIMED) this.#rate = (1000 * tokens * flopsOf(spec)) / spent;
    return done;
  }

  /** Gives their memory back. */
  close(): void {
    this.#open?.policy.destroy();
    this.#open = null;
  }
}

// nothing is kept for a backward pass but what each layer began with: questions are few, and the memory is the run's
const roomOf = ({ length }: PolicySpec) => ({ mostTokens: Math.max(length, MOST_TOKENS), keptTokens: 0 });

/** Operations of a forward pass, for each token: two for each weight. */
function flopsOf({ model }: PolicySpec): number {
  return 2 * parameters(model).reduce((sum, { size }) => sum + size, 0);
}
