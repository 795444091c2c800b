import type { Grammar } from '../../../domain/tokens.ts';

import type { LayerActivations, RecomputeBuffers } from '../activations.ts';
import { attentionShape, qkvWidth } from '../../attentionShape.ts';
import { chunksOf, type HeadTargets, type LanguageHead } from '../head.ts';
import { type Real, reals } from '../../learning/real.ts';
import { attentionBackward, finishLayer, feedForwardBackward, runLayer, unpackedProducts } from '../transformer.ts';
import type { AdapterGradients } from './adapterGradients.ts';
import type { MergedWeights } from './mergedTensors.ts';
import type { OutputGradients, OnProgress, TargetScores, TreeNetwork } from '../../learning/adaptedLearner.ts';
import type { TokenTree } from '../../learning/tokenTree.ts';

export interface CpuTreeNetworkParts {
  readonly merged: MergedWeights;
  readonly gradients: AdapterGradients;
  readonly buffers: RecomputeBuffers;
  readonly head: LanguageHead;
  readonly rotary: Real;
}

/** Passes over trees of tokens on the CPU. Gradients are added directly to the adapters' gradient pool. */
export class CpuTreeNetwork implements TreeNetwork {
  readonly #parts: CpuTreeNetworkParts;
  #grammar: Grammar;

  constructor(parts: CpuTreeNetworkParts, grammar: Grammar) {
    this.#parts = parts;
    this.#grammar = grammar;
  }

  setGrammar(grammar: Grammar): void {
    this.#grammar = grammar;
  }

  /**
   * Runs the tree forward. Writes the final norm's output to `buffers.hidden`, and keeps each layer's input for
   * `backward`. Calls `onLayer` after each layer with its activations, which later layers may overwrite.
   */
  async forward(
    tree: TokenTree,
    onProgress: OnProgress,
    onLayer?: (layer: number, activations: LayerActivations) => void,
  ): Promise<void> {
    const { buffers, merged, rotary } = this.#parts;
    const { arithmetic, inputs, visibleKeys, positions } = buffers;
    const { tensors } = merged;
    const products = unpackedProducts(arithmetic);
    const n = tree.count;
    const { hidden_size: d } = arithmetic.model;
    positions.set(tree.positions);
    visibleKeys.first.set(tree.first);
    for (let i = 0; i < n; i++) visibleKeys.counts[i] = tree.positions[i]! + 1;
    visibleKeys.table!.set(tree.table);
    products.gatherRows(activationsOf(buffers, 0, n).input, tensors.embed, tree.tokens, n, d);
    for (const [index, layer] of tensors.layers.entries()) {
      const a = activationsOf(buffers, index, n);
      if (!keepsAllLayers(buffers, n)) inputs[index]!.set(a.input.subarray(0, n * d));
      runLayer(products, buffers, layer, a, rotary, () => attend(buffers, a, n), n);
      const next = index + 1 < tensors.layers.length ? activationsOf(buffers, index + 1, n).input : buffers.finalStream;
      finishLayer(products, buffers, layer, a, next, n);
      onLayer?.(index, a);
      await onProgress();
    }
    arithmetic.rmsNorm(buffers.hidden, buffers.finalScales, buffers.finalStream, tensors.norm, n);
  }

  async score(tree: TokenTree, temperature: number, onProgress: OnProgress): Promise<TargetScores> {
    const { buffers, head, merged } = this.#parts;
    const logprobs = new Float64Array(tree.targets.count);
    const entropies = new Float64Array(tree.targets.count);
    for (const chunk of chunksOf(headTargets(tree), head.chunkSize)) {
      head.score(buffers.hidden, merged.tensors.head, chunk, this.#grammar, temperature, logprobs, entropies);
      await onProgress('within');
    }
    return { logprobs, entropies };
  }

  /** Returns (V) untempered logits after node `node` of the last tree. Call it after `forward`. */
  logits(node: number): Real {
    const { buffers, head, merged } = this.#parts;
    const out = reals(buffers.arithmetic.precision, head.vocabulary);
    head.logits(out, buffers.hidden.subarray(node * head.width), merged.tensors.head, 1);
    return out;
  }

  hidden(): Promise<Real> {
    return Promise.resolve(this.#parts.buffers.hidden);
  }

  zeros(count: number): Real {
    const { dhidden, arithmetic } = this.#parts.buffers;
    return dhidden.fill(0, 0, count * arithmetic.model.hidden_size);
  }

  clearGradients(): void {
    // the owner of the gradient pool clears it
  }

  async backward(
    tree: TokenTree,
    outputGradients: OutputGradients,
    temperature: number,
    onProgress: OnProgress,
  ): Promise<void> {
    const { buffers, merged, rotary, gradients, head } = this.#parts;
    const { arithmetic, inputs, dstream, visibleKeys, scores, hidden } = buffers;
    const n = tree.count;
    const { hidden_size: d, num_hidden_layers: layers } = arithmetic.model;
    const { tensors } = merged;
    const products = unpackedProducts(arithmetic);
    const dhidden = outputGradients.dhidden ?? this.zeros(n);
    const { dlogprobs, dentropies } = outputGradients;
    for (const chunk of chunksOf(headTargets(tree), head.chunkSize)) {
      head.backward(dhidden, null, hidden, tensors.head, chunk, this.#grammar, temperature, dlogprobs, dentropies);
      await onProgress('within');
    }
    dstream.fill(0, 0, n * d);
    arithmetic.rmsNormBackward(
      dstream,
      gradients.unusedGradients,
      dhidden,
      buffers.finalStream,
      buffers.finalScales,
      tensors.norm,
      n,
    );
    for (let index = layers - 1; index >= 0; index--) {
      const layer = tensors.layers[index]!;
      const a = activationsOf(buffers, index, n);
      if (!keepsAllLayers(buffers, n)) {
        a.input.set(inputs[index]!.subarray(0, n * d));
        runLayer(products, buffers, layer, a, rotary, () => attend(buffers, a, n), n);
      }
      await onProgress('within');
      feedForwardBackward(buffers, layer, a, gradients.sink(index), n);
      await onProgress('within');
      attentionBackward(buffers, layer, a, gradients.sink(index), rotary, n, () =>
        arithmetic.attendBackward(buffers.dqkv, buffers.dscratch, a.probabilities, a.qkv, visibleKeys, scores, n),
      );
      await onProgress();
    }
  }

  addGradients(): Promise<void> {
    return Promise.resolve();
  }
}

const keepsAllLayers = ({ keptTokens }: RecomputeBuffers, n: number) => n <= keptTokens;

const activationsOf = (buffers: RecomputeBuffers, index: number, n: number) =>
  buffers.layers[keepsAllLayers(buffers, n) ? index : 0]!;

function attend(buffers: RecomputeBuffers, { qkv, attended, probabilities }: LayerActivations, n: number): void {
  const { arithmetic, visibleKeys, scores } = buffers;
  const shape = attentionShape(arithmetic.model);
  const keys = qkv.subarray(shape.heads * shape.headDim);
  const values = keys.subarray(shape.kvHeads * shape.headDim);
  arithmetic.attend(attended, probabilities, qkv, keys, values, qkvWidth(shape), visibleKeys, scores, n);
}

/** Returns the tree's targets for the head, which then writes the results of target j to index j. */
const headTargets = ({ targets }: TokenTree): HeadTargets => ({
  ...targets,
  batchIndices: Int32Array.from({ length: targets.count }, (_, j) => j),
});
