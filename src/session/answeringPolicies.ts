import type { BaseCheckpoint } from '../checkpoints/baseCheckpoint.ts';
import type { Cost } from '../domain/readings.ts';
import type { AdapterConfig } from '../model/loraAdapters.ts';
import { parameters } from '../model/architecture.ts';
import type { AdaptedPolicy } from '../model/cpu/adapters/cpuAdaptedPolicy.ts';
import type { LearningMath } from '../model/learningMath.ts';
import type { PolicySpec } from '../model/policy.ts';
import type { Host } from './host.ts';

/** Operations a second of one core before any were timed: about what WebAssembly SIMD reaches on recent cores. */
const ASSUMED_SPEED = 20e9;
/** Shorter measurements say little about the speed. */
const MIN_TIMED_MS = 500;
/** Largest number of tokens at once, unless a row is longer: small, so that activations take little memory next to the weights. */
const MAX_TOKENS_AT_ONCE = 1024;

type ReaderHost = Pick<Host, 'yieldToEvents' | 'now' | 'threads'>;

/**
 * Policies that answer questions about a run that trains adapters. Each is a second copy of the whole model with the
 * run's adapters, always on the CPU, so only one is open at a time. Between layers it lets the event loop run, so that
 * training continues.
 */
export class AnsweringPolicies {
  readonly #base: Pick<BaseCheckpoint, 'weights'>;
  readonly #adapters: AdapterConfig;
  readonly #host: ReaderHost;
  #speed = ASSUMED_SPEED; // floating-point operations a second
  #open: { readonly policy: AdaptedPolicy; readonly math: LearningMath; readonly rows: number } | null = null;

  /** Reads and allocates nothing yet. */
  constructor(base: Pick<BaseCheckpoint, 'weights'>, adapters: AdapterConfig, host: ReaderHost) {
    this.#base = base;
    this.#adapters = adapters;
    this.#host = host;
  }

  /** Returns the open policy if it fits, otherwise closes it first. Throws BackendError if there isn't enough memory. */
  async open(spec: PolicySpec, math: LearningMath, seed: number): Promise<AdaptedPolicy> {
    if (this.#open?.math === math && this.#open.rows === spec.rows) return this.#open.policy;
    this.close();
    const { openCpuAdaptedPolicy } = await import('../model/cpu/adapters/cpuAdaptedPolicy.ts');
    const { yieldToEvents, threads } = this.#host;
    const options = {
      seed,
      reason: '',
      reportProgress: yieldToEvents,
      yieldToEvents,
      ...(threads && { threads }),
      ...bufferSizes(spec),
    };
    const policy = await openCpuAdaptedPolicy(spec, this.#base.weights, this.#adapters, math, options);
    this.#open = { policy, math, rows: spec.rows };
    return policy;
  }

  yieldToEvents(): Promise<void> {
    return this.#host.yieldToEvents();
  }

  /** The cost of opening a policy and running `tokens` tokens through it. A policy that is already open needs no more memory. */
  async cost(spec: PolicySpec, tokens: number): Promise<Cost> {
    const { adaptedPolicyMemory } = await import('../model/cpu/adapters/memory.ts');
    const parts = adaptedPolicyMemory(spec, this.#base.weights, this.#adapters, bufferSizes(spec));
    const bytes = this.#open && this.#open.rows >= spec.rows ? 0 : parts.reduce((sum, part) => sum + part.bytes, 0);
    return { seconds: (tokens * flopsOf(spec)) / this.#speed, bytes };
  }

  /** Does work on about `tokens` tokens and times it, to learn the speed of this machine. */
  async timed<T>(spec: PolicySpec, tokens: number, work: () => Promise<T>): Promise<T> {
    const startTime = this.#host.now();
    const result = await work();
    const elapsed = this.#host.now() - startTime;
    if (elapsed > MIN_TIMED_MS) this.#speed = (1000 * tokens * flopsOf(spec)) / elapsed;
    return result;
  }

  close(): void {
    this.#open?.policy.destroy();
    this.#open = null;
  }
}

// for a backward pass, only the input of each layer is kept: questions are rare, and the run needs the memory
const bufferSizes = ({ length }: PolicySpec) => ({ maxTokens: Math.max(length, MAX_TOKENS_AT_ONCE), keptTokens: 0 });

/** Floating-point operations of a forward pass for each token: two for each weight. */
function flopsOf({ model }: PolicySpec): number {
  return 2 * parameters(model).reduce((sum, { size }) => sum + size, 0);
}
