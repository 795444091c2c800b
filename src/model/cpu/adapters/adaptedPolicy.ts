import type { BackendInfo } from '../../../domain/backendInfo.ts';
import type { WorkProfile } from '../../../domain/profile.ts';
import type { AttentionView } from '../../../domain/readings.ts';
import { type AdapterConfig, adapterParameters } from '../../loraAdapters.ts';
import type { LearningMath } from '../../learningMath.ts';
import type { PolicySpec } from '../../policy.ts';
import type { MemoryPart } from '../../textModel.ts';
import { createRecomputeBuffers } from '../activations.ts';
import type { Arithmetic } from '../arithmetic.ts';
import { cpuCeilings } from '../ceilings.ts';
import { Decoder } from '../decoder.ts';
import { LanguageHead } from '../head.ts';
import { fillRotary } from '../layers.ts';
import { createLearned } from '../network.ts';
import type { Real } from '../real.ts';
import { TextNetwork } from '../textNetwork.ts';
import type { Threads } from '../team/threads.ts';
import type { TimedArithmetic } from '../timed.ts';
import { wholeProducts } from '../transformer.ts';
import { AdapterGradients } from './adapterGradients.ts';
import { AdapterPolicy } from './adapterPolicy.ts';
import { type AdaptedLearner, steps } from './adaptedLearner.ts';
import type { AdaptedMemoryOptions, AdaptedPlan } from './memory.ts';
import type { MergedTrunk } from './mergedTrunk.ts';
import { SlotReader } from './slotReader.ts';
import { CpuTreeNetwork } from './treeNetwork.ts';
import { valueHead } from './adaptedValueHead.ts';
import type { ModelConfig } from '../../architecture.ts';
import { lastTokenAttention } from '../attentionMaps.ts';
import { rowPrefix } from '../rowPrefix.ts';
import type { TokenTree } from './tokenTree.ts';

/** Options of `openCpuAdaptedPolicy`. */
export interface AdaptedPolicyOptions extends AdaptedMemoryOptions {
  readonly seed: number; // of the fresh adapters
  readonly reason: string; // why this backend was chosen; '' if there was no choice
  readonly share?: boolean; // false: learning runs every row by itself, as a reference for tests
  readonly threads?: Threads; // threads that compute together; one by default
  /**
   * Called between and within the layers of a pass, so that the event loop can run. Gets the progress of the stage, in
   * layers.
   */
  readonly between?: (done: number, total: number) => Promise<void>;
  /** Called between chunks of the tokens that are read before drawing. The number of chunks isn't known beforehand. */
  readonly yieldToEvents?: () => Promise<void>;
}

const noBreak = () => Promise.resolve();

/** The policy of `openCpuAdaptedPolicy`. Besides the methods of `Policy` it shows logits, attention and gradients. */
export class AdaptedPolicy extends AdapterPolicy {
  readonly backend: BackendInfo;
  readonly memoryBytes: number;
  protected readonly decoder: Decoder;
  protected readonly learner: AdaptedLearner;
  readonly #options: AdaptedPolicyOptions;
  readonly #memory: readonly MemoryPart[];
  readonly #timed: TimedArithmetic;
  readonly #arithmetic: Arithmetic;
  readonly #trunk: MergedTrunk;
  readonly #passes: CpuTreeNetwork;

  constructor(
    spec: PolicySpec,
    trunk: MergedTrunk,
    adapters: AdapterConfig,
    timed: TimedArithmetic,
    plan: AdaptedPlan,
    math: LearningMath,
    options: AdaptedPolicyOptions,
    adapter: string, // name of the arithmetic, for the user
  ) {
    const { model, rows, length } = spec;
    const { arithmetic } = timed;
    const { precision = 'f32', share = true, reason, seed } = options;
    const learned = createLearned(adapterParameters(model, adapters), arithmetic);
    super(spec, { adapters, learned, reference: arithmetic.reals(learned.size), math }, precision);
    const { capacity, keptTokens } = plan.passes;
    this.backend = { kind: 'cpu', adapter, software: false, storage: 'f32', reason };
    this.memoryBytes = plan.bytes;
    this.#options = options;
    this.#memory = plan.memory;
    this.#timed = timed;
    this.#arithmetic = arithmetic;
    this.#trunk = trunk;
    const buffers = createRecomputeBuffers(arithmetic, capacity, keptTokens);
    const rotary = arithmetic.reals(length * model.head_dim);
    fillRotary(rotary, model);
    this.#passes = new CpuTreeNetwork(
      {
        trunk,
        gradients: new AdapterGradients(arithmetic, adapters, learned, capacity.tokens),
        buffers: { ...buffers, visibleKeys: { ...buffers.visibleKeys, table: arithmetic.integers(rows * length) } },
        head: new LanguageHead(arithmetic, capacity.tokens),
        rotary,
      },
      this.grammar,
    );
    this.learner = {
      ...{ network: this.#passes, learned, batch: this.batch, math, share },
      ...{
        layers: model.num_hidden_layers,
        width: model.hidden_size,
        most: capacity.tokens,
        value: valueHead(learned),
      },
      scored: { tree: null, temperature: 1 },
      between: options.between ?? noBreak,
    };
    const network = new TextNetwork(arithmetic, trunk.tensors, wholeProducts(arithmetic), plan.drawing);
    const { yieldToEvents = noBreak } = options;
    const reader = new SlotReader(this.batch, network, trunk.tensors, arithmetic, yieldToEvents);
    this.decoder = new Decoder(this.batch, reader, arithmetic);
    this.reset(seed);
  }

  /** Returns (V) untempered logits after the first `count` tokens of row `row`. */
  nextLogits(row: number, count: number): Promise<Real> {
    return adaptedNextLogits(this.#passes, this.learner, row, count);
  }

  /** Returns the attention with which the policy chooses the token after the first `count` tokens of row `row`. */
  attention(row: number, count: number): Promise<AttentionView> {
    return adaptedAttention(this.#passes, this.learner, this.model, row, count);
  }

  tally(now: () => number): void {
    this.#timed.start(now);
  }

  async profile(now: () => number): Promise<WorkProfile> {
    const { precision = 'f32', simd = true, threads } = this.#options;
    const kernels = this.#timed.work();
    return {
      clock: 'CPU',
      variant: this.backend.adapter,
      ceilings: await cpuCeilings(this.model, precision, simd, now, { threads, rounding: 'fused' }),
      kernels,
      memory: [...this.#memory],
    };
  }

  override destroy(): void {
    super.destroy();
    this.#arithmetic.team?.close();
  }

  protected mergeIn(weights: Real): void {
    this.#trunk.merge(this.#arithmetic, this.learner.learned, weights);
  }
}

/**
 * Returns (V) untempered logits after the first `count` tokens of a row, with the merged weights. Throws RangeError if
 * the row has fewer tokens.
 */
async function adaptedNextLogits(
  network: CpuTreeNetwork,
  learner: AdaptedLearner,
  row: number,
  count: number,
): Promise<Real> {
  await network.forward(beginning(learner, row, count), steps(learner, learner.layers));
  return network.logits(count - 1);
}

/**
 * Returns the attention of every head with which the token after the first `count` tokens of a row is chosen. Throws as
 * `adaptedNextLogits` does.
 */
async function adaptedAttention(
  network: CpuTreeNetwork,
  learner: AdaptedLearner,
  { num_attention_heads: heads }: ModelConfig,
  row: number,
  count: number,
): Promise<AttentionView> {
  const { layers } = learner;
  const weights = new Float32Array(layers * heads * count);
  await network.forward(beginning(learner, row, count), steps(learner, layers), (layer, { probabilities }) => {
    weights.set(lastTokenAttention(probabilities, heads, count), layer * heads * count);
  });
  return { layers, heads, count, weights };
}

/**
 * Returns the beginning of a row as a tree without targets. Running it overwrites the activations of the last scoring,
 * so that isn't reused.
 */
function beginning({ batch, scored }: AdaptedLearner, row: number, count: number): TokenTree {
  const packed = rowPrefix(batch, row, count);
  scored.tree = null;
  const none = new Int32Array();
  return {
    ...packed,
    first: new Int32Array(count),
    table: Int32Array.from({ length: batch.length }, (_, t) => t),
    targets: { count: 0, positions: none, tokens: none, states: none, placesOf: [] },
    values: { count: 0, positions: none, places: none },
  };
}
