import type { BackendInfo } from '../../../domain/backendInfo.ts';
import type { WorkProfile } from '../../../domain/profile.ts';
import type { Recorder } from '../../../gpu/plan.ts';
import { lastContext } from '../../contexts.ts';
import { type AdapterConfig, adapterParameters, initialAdapters } from '../../loraAdapters.ts';
import type { TreeLearner } from '../../learning/treeLearner.ts';
import { TreePolicy } from '../../learning/treePolicy.ts';
import { valueHead } from '../../learning/valueHead.ts';
import { Decoder } from '../../learning/decoder.ts';
import type { TrainedTensors } from '../../learning/trainedTensors.ts';
import type { Real } from '../../learning/real.ts';
import type { LearningMath } from '../../learningMath.ts';
import type { EngineCounters, PolicySpec } from '../../policy.ts';
import type { KernelSet } from '../../../config/kernelChoice.ts';
import { Profiler } from '../workProfile.ts';
import { variantsOf } from '../kernelSets.ts';
import { type Pass, recordPasses } from '../text/passes.ts';
import { CachedRows } from '../text/cachedRows.ts';
import { DeviceRowDrawer } from './rowDrawer.ts';
import { Runner } from '../text/runner.ts';
import type { AdaptedTensors } from './adaptedTensors.ts';
import { DeviceTreeNetwork } from './treeNetwork.ts';
export interface AdaptedPolicyParts {
  readonly recorder: Recorder;
  readonly spec: PolicySpec;
  readonly adapters: AdapterConfig;
  readonly learned: TrainedTensors;
  readonly tensors: AdaptedTensors;
  readonly math: LearningMath;
  readonly kernels: KernelSet;
}

export interface AdaptedPolicySettings {
  readonly seed: number; // of the fresh adapters
  readonly reason: string; // why this backend was chosen; '' if there was nothing to decide
  /** Called between two layers of a pass with the progress of the stage. Lets the event loop run. */
  readonly reportProgress?: (done: number, total: number) => Promise<void>;
}

/** The policy that `openGpuAdaptedPolicy` opens. For tests it also exposes gradients, which `Policy` does not. */
export class GpuAdaptedPolicy extends TreePolicy {
  readonly backend: BackendInfo;
  readonly memoryBytes: number;
  readonly lost: Promise<string>;
  readonly passes: readonly Pass[]; // for drawing tokens
  readonly network: DeviceTreeNetwork;
  protected readonly decoder: Decoder;
  protected readonly learner: TreeLearner;
  readonly #adapters: AdapterConfig;
  readonly #recorder: Recorder;
  readonly #runner: Runner;
  readonly #profiler: Profiler;

  /** Use `openGpuAdaptedPolicy` instead: it also compiles the pipelines, loads the weights and calls `start`. */
  constructor(parts: AdaptedPolicyParts, { reason, reportProgress }: AdaptedPolicySettings) {
    const { recorder, spec, adapters, learned, tensors, math, kernels } = parts;
    const { model, rows, length } = spec;
    const reference = new Float32Array(learned.size);
    super(spec, { parameters: adapterParameters(model, adapters), trained: learned, reference, math }, 'f32');
    this.#adapters = adapters;
    this.#recorder = recorder;
    const { gpu } = recorder;
    const variants = variantsOf(gpu, kernels);
    const { adapter, software } = gpu;
    this.backend = { kind: 'gpu', adapter, software, storage: 'f32', reason };
    this.memoryBytes = tensors.memory.reduce((sum, { bytes }) => sum + bytes, 0);
    this.lost = gpu.lost;
    const { layers, norm, rotary: rotaryTable } = tensors.text;
    const network = { model, variants, rotaryTable, layers, norm, fused: null };
    this.network = new DeviceTreeNetwork(recorder, { network, adapters, tensors, keys: length / 2 });
    this.learner = {
      ...{ network: this.network, trained: learned, batch: this.batch, math },
      ...{
        layers: model.num_hidden_layers,
        width: model.hidden_size,
        maxNodes: tensors.maxTokens,
        sharePrefixes: true,
        valueHead: valueHead(learned),
      },
      lastScoring: { tree: null, temperature: 1 },
      reportProgress: reportProgress ?? (() => Promise.resolve()),
    };
    this.passes = recordPasses(recorder, { model, tensors: tensors.text, rows, length });
    this.#runner = new Runner(gpu, tensors.text, this.passes);
    const textOf = (row: number) => lastContext(this.batch, row);
    const cachedRows = new CachedRows(gpu, tensors.text, this.#runner, { rows, length, textOf });
    this.decoder = new Decoder(this.batch, new DeviceRowDrawer(this.#runner, cachedRows, this.batch));
    this.#profiler = new Profiler(gpu, () => this.#plans(), kernels, tensors.memory);
  }

  /** Starts with initial adapters. Call it once the checkpoint's weights are on the device. */
  start(seed: number): void {
    this.setGrammar(this.grammar);
    this.writeWeights(initialAdapters(this.model, this.#adapters, seed));
  }

  override counters(): EngineCounters {
    return { ...this.#recorder.gpu.counters };
  }

  /** Destroys the device, as a browser may do. For tests. */
  loseDevice(): void {
    this.#recorder.gpu.device.destroy();
  }

  override async whenIdle(): Promise<void> {
    await this.#recorder.gpu.device.queue.onSubmittedWorkDone();
  }

  startProfile(): void {
    this.#profiler.start();
  }

  async profile(now: () => number): Promise<WorkProfile> {
    const profile = await this.#profiler.measure(now);
    this.weightsChanged(); // timing has overwritten tensors that kernels write
    return profile;
  }

  override destroy(): void {
    super.destroy();
    this.#runner.destroy();
    this.network.destroy();
    this.#recorder.gpu.close();
  }

  #plans() {
    const drawn = this.passes.flatMap(({ blocks, toLogits, sample }) => [
      blocks,
      ...(toLogits ? [toLogits] : []),
      sample,
    ]);
    return [...drawn, ...this.network.plans()];
  }

  protected useWeights(weights: Real): void {
    this.network.merge(weights);
  }
}
