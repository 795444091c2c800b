import type { Grammar } from '../../domain/tokens.ts';
import type { AttentionView } from '../../domain/readings.ts';
import { attentionShape, qkvWidth } from '../attentionShape.ts';
import type { OutputGradients, OnProgress, TargetScores, TeacherScores, TreeNetwork } from '../learning/treeLearner.ts';
import { type Real, reals } from '../learning/real.ts';
import type { TokenRange, TokenTree } from '../learning/tokenTree.ts';
import { type Activations, type LayerActivations, viewOf } from './activations.ts';
import { chunksOf, type HeadTargets, type LanguageHead } from './head.ts';
import { scatterAddRows } from './layers.ts';
import type { ForwardTensors } from './network.ts';
import type { InTurn } from './team/team.ts';
import { attentionBackward, finishLayer, feedForwardBackward, runLayer, unpackedProducts } from './transformer.ts';
import type { WeightGradients } from './weightGradients.ts';

export interface CpuTreeNetworkParts {
  readonly gradients: WeightGradients;
  readonly buffers: Activations;
  readonly head: LanguageHead;
  readonly rotary: Real;
  /** Whether the event loop runs between steps. If not, each thread takes a part of the tree through all layers at once. */
  readonly hasBreaks: boolean;
}

/** A step of a pass for one part of a tree. It calls kernels, which may run later, on another thread. */
interface Step {
  readonly run: (view: Activations, part: TokenRange, inTurn: InTurn) => void;
  readonly progress?: 'within'; // absent: the step ends a layer
}

/** Passes over trees of tokens on the CPU. Gradients are added directly to their pool. */
export class CpuTreeNetwork implements TreeNetwork {
  readonly #parts: CpuTreeNetworkParts;
  #tensors: ForwardTensors;
  #grammar: Grammar;
  /** The targets of the last tree that was scored, in pieces for the head. It knows them again, and then computes no logits twice. */
  #targets: { readonly tree: TokenTree; readonly chunks: readonly HeadTargets[] } | null = null;

  constructor(parts: CpuTreeNetworkParts, tensors: ForwardTensors, grammar: Grammar) {
    this.#parts = parts;
    this.#tensors = tensors;
    this.#grammar = grammar;
  }

  setGrammar(grammar: Grammar): void {
    this.#grammar = grammar;
  }

  /** Computes with these weights from now on. */
  useWeights(tensors: ForwardTensors): void {
    this.#tensors = tensors;
  }

  forward(tree: TokenTree, onProgress: OnProgress, keep = true): Promise<void> {
    return this.#forward(tree, onProgress, keep);
  }

  /** Calls `onLayer` after each layer of a tree of one part, with its activations, which later layers may overwrite. */
  async #forward(
    tree: TokenTree,
    onProgress: OnProgress,
    keep: boolean,
    onLayer?: (layer: number, activations: LayerActivations) => void,
  ): Promise<void> {
    const { buffers, rotary } = this.#parts;
    const { arithmetic, inputs, visibleKeys, positions } = buffers;
    const { embed, layers, norm } = this.#tensors;
    const { hidden_size: d } = arithmetic.model;
    const products = unpackedProducts(arithmetic);
    const keepsInputs = keep && !keepsAllLayers(buffers, tree);
    positions.set(tree.positions);
    visibleKeys.first.set(tree.first);
    visibleKeys.table.set(tree.table);
    for (let i = 0; i < tree.count; i++) visibleKeys.counts[i] = tree.positions[i]! + 1;
    const activationsOf = (view: Activations, index: number) => view.layers[keep && !keepsInputs ? index : 0]!;
    const steps = layers.map((layer, index): Step => ({
      run: (view, { from, count: n }) => {
        const a = activationsOf(view, index);
        if (index === 0) products.gatherRows(a.input, embed, tree.tokens.subarray(from), n, d);
        if (keepsInputs) arithmetic.copy(inputs[index]!, a.input, n * d);
        runLayer(products, view, layer, a, rotary, () => attend(view, a, n, keep), n);
        const isLast = index + 1 === layers.length;
        finishLayer(products, view, layer, a, isLast ? view.finalStream : activationsOf(view, index + 1).input, n);
        if (isLast) arithmetic.rmsNorm(view.hidden, view.finalScales, view.finalStream, norm, n);
        onLayer?.(index, a);
      },
    }));
    await this.#run(tree, steps, onProgress);
  }

  async #run(tree: TokenTree, steps: readonly Step[], onProgress: OnProgress): Promise<void> {
    const { buffers, hasBreaks } = this.#parts;
    const views = tree.parts.map((part) => (tree.parts.length === 1 ? buffers : viewOf(buffers, part)));
    for (const group of hasBreaks ? steps.map((step) => [step]) : [steps]) {
      buffers.arithmetic.runPass(
        tree.parts.map((part, i) => (inTurn: InTurn) => {
          for (const { run } of group) run(views[i]!, part, inTurn);
        }),
      );
      for (const { progress } of group) await onProgress(progress);
    }
  }

  async score(
    tree: TokenTree,
    temperature: number,
    onProgress: OnProgress,
    teacher?: TeacherScores,
  ): Promise<TargetScores> {
    const { buffers, head } = this.#parts;
    const logprobs = new Float64Array(tree.targets.count);
    const entropies = new Float64Array(tree.targets.count);
    for (const chunk of this.#chunks(tree)) {
      const lists = tree.targets.batchIndexLists;
      head.score(buffers.hidden, this.#tensors.head, chunk, this.#grammar, temperature, logprobs, entropies, teacher && { ...teacher, lists }); // prettier-ignore
      await onProgress('within');
    }
    return { logprobs, entropies };
  }

  /** The targets of the tree for the head, which then writes the results of target j to index j. */
  #chunks(tree: TokenTree): readonly HeadTargets[] {
    if (this.#targets?.tree !== tree) {
      const batchIndices = Int32Array.from({ length: tree.targets.count }, (_, j) => j);
      this.#targets = { tree, chunks: [...chunksOf({ ...tree.targets, batchIndices }, this.#parts.head.chunkSize)] };
    }
    return this.#targets.chunks;
  }

  /** Returns (n, V) untempered logits after each node of a tree. */
  async logits(tree: TokenTree, onProgress: OnProgress): Promise<Real> {
    const { buffers, head } = this.#parts;
    await this.#forward(tree, onProgress, false);
    const out = reals(buffers.arithmetic.precision, tree.count * head.vocabulary);
    head.logits(out, buffers.hidden, this.#tensors.head, tree.count);
    return out;
  }

  /** Returns (V) untempered logits after the last node of a tree. */
  async nextLogits(tree: TokenTree, onProgress: OnProgress): Promise<Real> {
    const { buffers, head } = this.#parts;
    await this.#forward(tree, onProgress, false);
    const out = reals(buffers.arithmetic.precision, head.vocabulary);
    head.logits(out, buffers.hidden.subarray((tree.count - 1) * head.width), this.#tensors.head, 1);
    return out;
  }

  /**
   * Returns the attention with which the token after the first `count` tokens of a row is chosen, for every head. The
   * tree is of their last context; the tokens before it get 0.
   */
  async attention(tree: TokenTree, count: number, onProgress: OnProgress): Promise<AttentionView> {
    const { num_hidden_layers: layers, num_attention_heads: heads } = this.#parts.buffers.arithmetic.model;
    const keys = tree.count;
    const weights = new Float32Array(layers * heads * count);
    const start = (heads * keys * (keys - 1)) / 2; // those of the tokens before come first, with (heads, t) numbers for token t
    await this.#forward(tree, onProgress, true, (layer, { probabilities }) => {
      for (let head = 0; head < heads; head++) {
        const ofHead = probabilities.subarray(start + head * keys, start + (head + 1) * keys);
        weights.set(ofHead, (layer * heads + head + 1) * count - keys);
      }
    });
    return { layers, heads, count, weights };
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
    const { buffers, rotary, gradients, head } = this.#parts;
    const { arithmetic, inputs, hidden } = buffers;
    const { layers, norm, head: headWeight } = this.#tensors;
    const { hidden_size: d } = arithmetic.model;
    const products = unpackedProducts(arithmetic);
    const dhidden = outputGradients.dhidden ?? this.zeros(tree.count);
    const { dlogprobs, dentropies, teacher } = outputGradients;
    const taught = teacher ? { rows: teacher, lists: tree.targets.batchIndexLists } : null;
    for (const chunk of this.#chunks(tree)) {
      head.backward(dhidden, gradients.head, hidden, headWeight, chunk, this.#grammar, temperature, dlogprobs, dentropies, taught); // prettier-ignore
      await onProgress('within');
    }
    const isKept = keepsAllLayers(buffers, tree);
    const stepsOf = (index: number): readonly Step[] => {
      const layer = layers[index]!;
      const activationsOf = (view: Activations) => view.layers[isKept ? index : 0]!;
      return [
        {
          progress: 'within',
          run: (view, { count: n }, inTurn) => {
            if (index + 1 === layers.length) {
              view.dstream.fill(0, 0, n * d);
              inTurn(() => arithmetic.rmsNormBackward(view.dstream, gradients.norm, view.dhidden, view.finalStream, view.finalScales, norm, n)); // prettier-ignore
            }
            if (isKept) return;
            const a = activationsOf(view);
            arithmetic.copy(a.input, inputs[index]!, n * d);
            runLayer(products, view, layer, a, rotary, () => attend(view, a, n, true), n);
          },
        },
        {
          progress: 'within',
          run: (view, { count: n }, inTurn) =>
            feedForwardBackward(view, layer, activationsOf(view), gradients.layer(index, inTurn), n),
        },
        {
          run: (view, { count: n }, inTurn) => {
            const { dqkv, dscratch, visibleKeys, scores } = view;
            const a = activationsOf(view);
            attentionBackward(view, layer, a, gradients.layer(index, inTurn), rotary, n, () =>
              arithmetic.attendBackward(dqkv, dscratch, a.probabilities, a.qkv, visibleKeys, scores, n),
            );
          },
        },
      ];
    };
    await this.#run(
      tree,
      layers
        .map((_, index) => stepsOf(index))
        .toReversed()
        .flat(),
      onProgress,
    );
    // after all parts, because the head adds to the same matrix if it is tied
    if (gradients.embed) scatterAddRows(gradients.embed, buffers.dstream, tree.tokens, tree.count, d);
  }

  addGradients(): Promise<void> {
    return Promise.resolve();
  }
}

/** A larger tree has one part. */
const keepsAllLayers = ({ keptTokens }: Activations, { count }: TokenTree) => count <= keptTokens;

function attend(view: Activations, { qkv, attended, probabilities }: LayerActivations, n: number, keep: boolean): void {
  const { arithmetic, visibleKeys, scores } = view;
  const shape = attentionShape(arithmetic.model);
  const keys = qkv.subarray(shape.heads * shape.headDim);
  const values = keys.subarray(shape.kvHeads * shape.headDim);
  const kept = keep ? probabilities : null;
  arithmetic.attend(attended, kept, qkv, keys, values, qkvWidth(shape), visibleKeys, scores, n);
}
