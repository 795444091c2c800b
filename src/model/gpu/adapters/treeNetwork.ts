import { causeOf, submit } from '../../../gpu/device.ts';
import type { PipelineEntry } from '../../../gpu/pipelines.ts';
import { Plan, type Recorder } from '../../../gpu/plan.ts';
import { Readback } from '../../../gpu/readback.ts';
import { write, type Tensor } from '../../../gpu/tensor.ts';
import { uniformWords } from '../../../gpu/uniform.ts';
import type { Grammar } from '../../../domain/tokens.ts';
import type { OutputGradients, OnProgress, TargetScores, TreeNetwork } from '../../learning/treeLearner.ts';
import type { TokenTree } from '../../learning/tokenTree.ts';
import type { Real } from '../../learning/real.ts';
import { writeNodes } from '../microBatchTokens.ts';
import { writeGrammar } from '../text/grammarBits.ts';
import { recordMerge } from './adaptedLinears.ts';
import { PASS_STEP, TEMPERATURE } from './adaptedTensors.ts';
import { recordTargets, recordTree, type TargetPlans, type TreeNetworkParts, type TreePlans } from './treePlans.ts';

const EMPTY = 0xffffffff; // in an unused target
const ENTRY_WORDS = 4; // of a node or a target
/** Maximum layers to submit before waiting for the device. So the reported progress is true, and no wait is long. */
const MAX_LAYERS_AHEAD = 4;

/** Forward, the language head at the targets, and back to gradients of adapters. */
export class DeviceTreeNetwork implements TreeNetwork {
  readonly #recorder: Recorder;
  readonly #parts: TreeNetworkParts;
  readonly #merge: Plan;
  readonly #passes = new Map<number, TreePlans>(); // by number of tokens
  readonly #targets = new Map<number, TargetPlans>(); // by the first target of a block
  readonly #scores: Readback;
  readonly #gradients: Readback;
  readonly #hidden: Readback;
  readonly #dhidden: Tensor; // gradient of the hidden states

  constructor(recorder: Recorder, parts: TreeNetworkParts) {
    this.#recorder = recorder;
    this.#parts = parts;
    const { adaptedLinears, adapterTensors, scores, acts } = parts.tensors;
    const last = 2 * parts.network.model.num_hidden_layers;
    this.#dhidden = parts.tensors.grads.dy.at(last);
    this.#merge = new Plan(recorder, 'merge');
    recordMerge(this.#merge, adaptedLinears, adapterTensors.adapters, parts.adapters);
    this.#scores = new Readback(recorder.gpu, 'scores of targets', [scores]);
    this.#gradients = new Readback(recorder.gpu, 'gradients of adapters', [adapterTensors.gradients]);
    this.#hidden = new Readback(recorder.gpu, 'hidden states', [acts.y.at(last)]);
  }

  /** Every pipeline that it runs. Passes of all sizes run the same pipelines. */
  get entries(): readonly PipelineEntry[] {
    return [
      ...new Set(
        this.plans(this.#parts.tensors.paddedTokens).flatMap((plan) => plan.dispatches.map(({ entry }) => entry)),
      ),
    ];
  }

  /** Every plan recorded so far; with `count`, plans for trees of that many tokens are recorded first. */
  plans(count?: number): readonly Plan[] {
    if (count !== undefined) {
      this.#passFor(count);
      this.#targetsFrom(0);
    }
    const passes = [...this.#passes.values()].flatMap(({ embed, forward, finalNorm, finalNormBackward, backward }) => [
      ...[embed, ...forward, finalNorm, finalNormBackward, ...backward],
    ]);
    return [this.#merge, ...passes, ...[...this.#targets.values()].flatMap(({ score, backward }) => [score, backward])];
  }

  merge(adapters: Real): void {
    const { adapterTensors } = this.#parts.tensors;
    write(this.#recorder.gpu, adapterTensors.adapters, Float32Array.from(adapters));
    submit(this.#recorder.gpu, (encoder) => this.#merge.encode(encoder));
  }

  setGrammar(grammar: Grammar): void {
    writeGrammar(this.#recorder.gpu, this.#parts.tensors.text, grammar);
  }

  async forward(tree: TokenTree, step: OnProgress): Promise<void> {
    const { gpu } = this.#recorder;
    const plans = this.#passFor(tree.count);
    this.#writeTree(tree, passSize(tree.count));
    submit(gpu, (encoder) => plans.embed.encode(encoder));
    await this.#throughLayers(plans.forward, step);
    submit(gpu, (encoder) => plans.finalNorm.encode(encoder));
  }

  async score({ targets }: TokenTree, temperature: number): Promise<TargetScores> {
    this.#writeTargets(targets, temperature);
    const words = await this.#read(this.#scores, (encoder) => {
      for (const { score } of this.#blocks(targets.count)) score.encode(encoder);
    });
    const scores = new Float32Array(words.buffer, words.byteOffset, 3 * targets.count);
    return {
      logprobs: Float32Array.from({ length: targets.count }, (_, j) => scores[3 * j]!),
      entropies: Float32Array.from({ length: targets.count }, (_, j) => scores[3 * j + 1]!),
    };
  }

  async hidden(): Promise<Real> {
    const words = await this.#read(this.#hidden, () => undefined);
    return new Float32Array(words.buffer, words.byteOffset, words.length);
  }

  zeros(count: number): Real {
    return new Float32Array(count * this.#parts.network.model.hidden_size);
  }

  clearGradients(): void {
    const { buffer } = this.#parts.tensors.adapterTensors.gradients;
    submit(this.#recorder.gpu, (encoder) => encoder.clearBuffer(buffer));
  }

  /** Computes the scores again first, because these targets may be fewer than the scored ones. */
  async backward(tree: TokenTree, given: OutputGradients, temperature: number, step: OnProgress): Promise<void> {
    const { gpu } = this.#recorder;
    const { coefficients } = this.#parts.tensors;
    const { targets } = tree;
    const plans = this.#passFor(tree.count);
    this.#writeTargets(targets, temperature);
    const pairs = new Float32Array(2 * this.#padded(targets.count));
    for (let j = 0; j < targets.count; j++) pairs.set([given.dlogprobs[j]!, given.dentropies[j]!], 2 * j);
    write(gpu, coefficients, pairs);
    const { buffer, offset, bytes } = this.#dhidden;
    submit(gpu, (encoder) => encoder.clearBuffer(buffer, offset, bytes));
    if (given.dhidden) write(gpu, this.#dhidden, Float32Array.from(given.dhidden));
    for (const { score, backward } of this.#blocks(targets.count)) {
      submit(gpu, (encoder) => {
        score.encode(encoder);
        backward.encode(encoder);
      });
    }
    submit(gpu, (encoder) => plans.finalNormBackward.encode(encoder));
    await this.#throughLayers(plans.backward.toReversed(), step);
  }

  async addGradients(sums: Real): Promise<void> {
    const words = await this.#read(this.#gradients, () => undefined);
    // these are zero for a value head, whose gradients are in `sums` already
    for (const [i, gradient] of new Float32Array(words.buffer, words.byteOffset, words.length).entries()) {
      sums[i] = sums[i]! + gradient;
    }
  }

  destroy(): void {
    this.#scores.destroy();
    this.#gradients.destroy();
    this.#hidden.destroy();
  }

  async #throughLayers(plans: readonly Plan[], step: OnProgress): Promise<void> {
    const { gpu } = this.#recorder;
    for (const [i, plan] of plans.entries()) {
      submit(gpu, (encoder) => plan.encode(encoder));
      if (i % MAX_LAYERS_AHEAD === MAX_LAYERS_AHEAD - 1) await gpu.device.queue.onSubmittedWorkDone();
      await step();
    }
  }

  #passFor(count: number): TreePlans {
    const size = passSize(count);
    let plans = this.#passes.get(size);
    if (!plans) {
      plans = recordTree(this.#recorder, this.#parts, size);
      this.#passes.set(size, plans);
    }
    return plans;
  }

  #targetsFrom(from: number): TargetPlans {
    let plans = this.#targets.get(from);
    if (!plans) {
      plans = recordTargets(this.#recorder, this.#parts, from);
      this.#targets.set(from, plans);
    }
    return plans;
  }

  #padded(count: number): number {
    const { targetsPerBlock } = this.#parts.tensors;
    return Math.ceil(count / targetsPerBlock) * targetsPerBlock;
  }

  #blocks(count: number): readonly TargetPlans[] {
    const { targetsPerBlock } = this.#parts.tensors;
    return Array.from({ length: Math.ceil(count / targetsPerBlock) }, (_, i) => this.#targetsFrom(i * targetsPerBlock));
  }

  #writeTree(tree: TokenTree, size: number): void {
    const { gpu } = this.#recorder;
    const { nodes, positions } = this.#parts.tensors;
    const [words, places] = [new Uint32Array(size * ENTRY_WORDS), new Uint32Array(size)];
    writeNodes(tree, words, places);
    write(gpu, nodes, words);
    write(gpu, positions, places);
  }

  #writeTargets({ count, positions, tokens, states }: TokenTree['targets'], temperature: number): void {
    const { gpu } = this.#recorder;
    const { targets: targetTensor, knobs } = this.#parts.tensors;
    const words = new Uint32Array(this.#padded(count) * ENTRY_WORDS);
    for (let j = 0; j < words.length / ENTRY_WORDS; j++) {
      words.set(j < count ? [positions[j]!, tokens[j]!, states[j]!, 0] : [EMPTY, 0, 0, 0], j * ENTRY_WORDS);
    }
    write(gpu, targetTensor, words);
    write(gpu, knobs, uniformWords(TEMPERATURE, { temperature }));
  }

  async #read(readback: Readback, record: (encoder: GPUCommandEncoder) => void) {
    const { gpu } = this.#recorder;
    try {
      submit(gpu, (encoder) => {
        record(encoder);
        readback.encode(encoder);
      });
      const [words] = await readback.read();
      return words!;
    } catch (error) {
      throw await causeOf(error, gpu.lost);
    }
  }
}

const passSize = (count: number) => Math.ceil(Math.max(count, 1) / PASS_STEP) * PASS_STEP;
