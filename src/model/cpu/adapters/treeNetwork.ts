import type { Grammar } from '../../../domain/tokens.ts';

import type { LayerActivations, RecomputeRoom } from '../activations.ts';
import { attentionShape, qkvWidth } from '../attention.ts';
import { chunksOf, type HeadTargets, type LanguageHead } from '../head.ts';
import { type Real, reals } from '../real.ts';
import { attentionBackward, closeLayer, feedForwardBackward, runLayer, wholeProducts } from '../transformer.ts';
import type { AdapterGradients } from './adapterGradients.ts';
import type { MergedTrunk } from './mergedTrunk.ts';
import type { GivenGradients, Step, TargetScores, TreeNetwork } from './adaptedLearner.ts';
import type { TokenTree } from './tokenTree.ts';

/** What passes on the CPU read and write. */
export interface CpuTreeNetworkParts {
  readonly trunk: MergedTrunk;
  readonly gradients: AdapterGradients;
  readonly room: RecomputeRoom;
  readonly head: LanguageHead;
  readonly rotary: Real;
}

/** Passes over trees of tokens on the CPU. Gradients go straight to the pool of what is learned. */
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
   * Leaves the final norm's output in `room.hidden`, and each layer's input where `backward` finds it. `seen` hears each layer as it was run; later ones
   * may overwrite what it holds.
   */
  async forward(
    tree: TokenTree,
    step: Step,
    seen?: (layer: number, activations: LayerActivations) => void,
  ): Promise<void> {
    const { room, trunk, rotary } = this.#parts;
    const { arithmetic, inputs, reach, positions } = room;
    const { tensors } = trunk;
    const products = wholeProducts(arithmetic);
    const n = tree.count;
    const { hidden_size: d } = arithmetic.model;
    positions.set(tree.positions);
    reach.first.set(tree.first);
    for (let i = 0; i < n; i++) reach.counts[i] = tree.positions[i]! + 1;
    reach.table!.set(tree.table);
    products.rows(layerOf(room, 0, n).input, tensors.embed, tree.tokens, n, d);
    for (const [index, layer] of tensors.layers.entries()) {
      const a = layerOf(room, index, n);
      if (!isKept(room, n)) inputs[index]!.set(a.input.subarray(0, n * d));
      runLayer(products, room, layer, a, rotary, () => attend(room, a, n), n);
      const next = index + 1 < tensors.layers.length ? layerOf(room, index + 1, n).input : room.final;
      closeLayer(products, room, layer, a, next, n);
      seen?.(index, a);
      await step();
    }
    arithmetic.rmsNorm(room.hidden, room.finalScales, room.final, tensors.norm, n);
  }

  async score(tree: TokenTree, temperature: number, step: Step): Promise<TargetScores> {
    const { room, head, trunk } = this.#parts;
    const logprobs = new Float64Array(tree.targets.count);
    const entropies = new Float64Array(tree.targets.count);
    for (const some of chunksOf(targetsOf(tree), head.chunk)) {
      head.score(room.hidden, trunk.tensors.head, some, this.#grammar, temperature, logprobs, entropies);
      await step('within');
    }
    return { logprobs, entropies };
  }

  /** (V) untempered logits behind node `at` of the tree that was run. */
  logits(at: number): Real {
    const { room, head, trunk } = this.#parts;
    const out = reals(room.arithmetic.precision, head.vocabulary);
    head.logits(out, room.hidden.subarray(at * head.width), trunk.tensors.head, 1);
    return out;
  }

  hidden(): Promise<Real> {
    return Promise.resolve(this.#parts.room.hidden);
  }

  zeros(count: number): Real {
    const { dhidden, arithmetic } = this.#parts.room;
    return dhidden.fill(0, 0, count * arithmetic.model.hidden_size);
  }

  clearGradients(): void {
    // the pool is cleared by whoever owns it
  }

  async backward(tree: TokenTree, given: GivenGradients, temperature: number, step: Step): Promise<void> {
    const { room, trunk, rotary, gradients, head } = this.#parts;
    const { arithmetic, inputs, dstream, reach, scores, hidden } = room;
    const n = tree.count;
    const { hidden_size: d, num_hidden_layers: layers } = arithmetic.model;
    const { tensors } = trunk;
    const products = wholeProducts(arithmetic);
    const dhidden = given.dhidden ?? this.zeros(n);
    const { dlogprobs, dentropies } = given;
    for (const some of chunksOf(targetsOf(tree), head.chunk)) {
      head.backward(dhidden, null, hidden, tensors.head, some, this.#grammar, temperature, dlogprobs, dentropies);
      await step('within');
    }
    dstream.fill(0, 0, n * d);
    arithmetic.rmsNormBackward(dstream, gradients.unwanted, dhidden, room.final, room.finalScales, tensors.norm, n);
    for (let index = layers - 1; index >= 0; index--) {
      const layer = tensors.layers[index]!;
      const a = layerOf(room, index, n);
      if (!isKept(room, n)) {
        a.input.set(inputs[index]!.subarray(0, n * d));
        runLayer(products, room, layer, a, rotary, () => attend(room, a, n), n);
      }
      await step('within');
      feedForwardBackward(room, layer, a, gradients.sink(index), n);
      await step('within');
      attentionBackward(room, layer, a, gradients.sink(index), rotary, n, () =>
        arithmetic.attendBackward(room.dqkv, room.dnarrow, a.probabilities, a.qkv, reach, scores, n),
      );
      await step();
    }
  }

  addGradients(): Promise<void> {
    return Promise.resolve();
  }
}

/** Whether every layer keeps what it computed of n tokens. */
const isKept = ({ keptTokens }: RecomputeRoom, n: number) => n <= keptTokens;

const layerOf = (room: RecomputeRoom, index: number, n: number) => room.layers[isKept(room, n) ? index : 0]!;

function attend(room: RecomputeRoom, { qkv, attended, probabilities }: LayerActivations, n: number): void {
  const { arithmetic, reach, scores } = room;
  const shape = attentionShape(arithmetic.model);
  const keys = qkv.subarray(shape.heads * shape.headDim);
  const values = keys.subarray(shape.kvHeads * shape.headDim);
  arithmetic.attend(attended, probabilities, qkv, keys, values, qkvWidth(shape), reach, scores, n);
}

/** The head's targets with an index of their own as place. */
const targetsOf = ({ targets }: TokenTree): HeadTargets => ({
  ...targets,
  places: Int32Array.from({ length: targets.count }, (_, j) => j),
});
