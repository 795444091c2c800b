import type { BackendInfo } from '../../../domain/backendInfo.ts';
import type { WorkProfile } from '../../../domain/profile.ts';
import type { AttentionView } from '../../../domain/readings.ts';
import { type AdapterConfig, adapterParameters, initialAdapters } from '../../loraAdapters.ts';
import type { LearningMath } from '../../learningMath.ts';
import type { PolicySpec } from '../../policy.ts';
import type { MemoryPart } from '../../textModel.ts';
import { createActivations } from '../activations.ts';
import type { Arithmetic } from '../arithmetic.ts';
import { cpuCeilings } from '../ceilings.ts';
import { Decoder } from '../../learning/decoder.ts';
import { LogitsDrawer } from '../logitsDrawer.ts';
import { LanguageHead } from '../head.ts';
import { fillRotary } from '../layers.ts';
import { createTrained } from '../../learning/trainedTensors.ts';
import type { Real } from '../../learning/real.ts';
import { TextNetwork } from '../textNetwork.ts';
import type { Threads } from '../team/threads.ts';
import type { TimedArithmetic } from '../timedArithmetic.ts';
import { unpackedProducts } from '../transformer.ts';
import { AdapterGradients } from './adapterGradients.ts';
import { progressCounter, type TreeLearner } from '../../learning/treeLearner.ts';
import { TreePolicy } from '../../learning/treePolicy.ts';
import { type AdaptedMemoryOptions, type AdaptedPlan, precisionOf } from './memory.ts';
import type { MergedWeights } from './mergedTensors.ts';
import { SlotReader } from './slotReader.ts';
import { CpuTreeNetwork } from '../treeNetwork.ts';
import { valueHead } from '../../learning/valueHead.ts';

export interface AdaptedPolicyOptions extends AdaptedMemoryOptions {
  readonly seed: number; // of the fresh adapters
  readonly reason: string; // why this backend was chosen; '' if there was no choice
  readonly share?: boolean; // false: learning runs every row by itself, as a reference for tests; true by default
  readonly threads?: Threads; // threads that compute together; one by default
  /** Called between and within the layers of a pass, so that the event loop can run. Gets the progress of the stage, in layers. */
  readonly reportProgress?: (done: number, total: number) => Promise<void>;
  /** Called between chunks of the tokens that are read before drawing. The number of chunks isn't known beforehand. */
  readonly yieldToEvents?: () => Promise<void>;
}

const noPause = () => Promise.resolve();

/** The policy of `openCpuAdaptedPolicy`. Besides the methods of `Policy` it shows logits, attention and gradients. */
export class AdaptedPolicy extends TreePolicy {
  readonly backend: BackendInfo;
  readonly memoryBytes: number;
  protected readonly decoder: Decoder;
  protected readonly learner: TreeLearner;
  readonly #options: AdaptedPolicyOptions;
  readonly #memory: readonly MemoryPart[];
  readonly #timed: TimedArithmetic;
  readonly #arithmetic: Arithmetic;
  readonly #merged: MergedWeights;
  readonly #treeNetwork: CpuTreeNetwork;

  constructor(
    spec: PolicySpec,
    merged: MergedWeights,
    adapters: AdapterConfig,
    timed: TimedArithmetic,
    plan: AdaptedPlan,
    math: LearningMath,
    options: AdaptedPolicyOptions,
    adapter: string, // name of the arithmetic, for the user
  ) {
    const { model, length } = spec;
    const { arithmetic } = timed;
    const { share = true, reason, seed } = options;
    const parameters = adapterParameters(model, adapters);
    const trained = createTrained(parameters, arithmetic);
    super(spec, { parameters, trained, reference: arithmetic.reals(trained.size), math }, precisionOf(options));
    const { capacity, keptTokens } = plan.passes;
    this.backend = { kind: 'cpu', adapter, software: false, storage: 'f32', reason };
    this.memoryBytes = plan.bytes;
    this.#options = options;
    this.#memory = plan.memory;
    this.#timed = timed;
    this.#arithmetic = arithmetic;
    this.#merged = merged;
    const rotary = arithmetic.reals(length * model.head_dim);
    fillRotary(rotary, model);
    this.#treeNetwork = new CpuTreeNetwork(
      {
        gradients: new AdapterGradients(arithmetic, adapters, trained, capacity.tokens),
        buffers: createActivations(arithmetic, capacity, keptTokens),
        head: new LanguageHead(arithmetic, capacity.tokens),
        rotary,
        hasBreaks: true,
      },
      merged.tensors,
      this.grammar,
    );
    this.learner = {
      ...{ network: this.#treeNetwork, trained, batch: this.batch, math, sharePrefixes: share },
      ...{
        layers: model.num_hidden_layers,
        width: model.hidden_size,
        maxNodes: capacity.tokens,
        valueHead: valueHead(trained),
      },
      lastScoring: { tree: null, temperature: 1 },
      reportProgress: options.reportProgress ?? noPause,
    };
    const network = new TextNetwork(arithmetic, merged.tensors, unpackedProducts(arithmetic), plan.drawing);
    const { yieldToEvents = noPause } = options;
    const reader = new SlotReader(this.batch, network, merged.tensors, arithmetic, yieldToEvents);
    this.decoder = new Decoder(this.batch, new LogitsDrawer(this.batch, reader, arithmetic));
    this.writeWeights(initialAdapters(model, adapters, seed));
  }

  /** Returns (V) untempered logits after the first `count` tokens of row `row`. */
  async nextLogits(row: number, count: number): Promise<Real> {
    const tree = this.rowBeginning(row, count);
    return this.#treeNetwork.nextLogits(tree, progressCounter(this.learner, this.learner.layers));
  }

  /** Returns the attention with which the policy chooses the token after the first `count` tokens of row `row`. */
  async attention(row: number, count: number): Promise<AttentionView> {
    const tree = this.rowBeginning(row, count);
    return this.#treeNetwork.attention(tree, count, progressCounter(this.learner, this.learner.layers));
  }

  startProfile(now: () => number): void {
    this.#timed.start(now);
  }

  async profile(now: () => number): Promise<WorkProfile> {
    const { loops, threads } = this.#options;
    const kernels = this.#timed.work();
    return {
      clock: 'CPU',
      variant: this.backend.adapter,
      ceilings: await cpuCeilings(this.model, loops, now, { threads, rounding: 'fused' }),
      kernels,
      memory: [...this.#memory],
    };
  }

  override destroy(): void {
    super.destroy();
    this.#arithmetic.team?.close();
  }

  protected useWeights(weights: Real): void {
    this.#merged.merge(this.#arithmetic, this.learner.trained, weights);
  }
}
