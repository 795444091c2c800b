import type { Grammar } from '../../../domain/tokens.ts';
import type { LearningMath } from '../../learningMath.ts';
import type { StepStats } from '../../policyReport.ts';
import type { ObjectiveSettings } from '../../settings.ts';
import type { LayerActivations, RecomputeRoom } from '../activations.ts';
import { attentionShape, qkvWidth } from '../attention.ts';
import type { Batch } from '../batch.ts';
import type { HeadTargets, LanguageHead } from '../head.ts';
import { hasToken, NOT_A_NUMBER, NOTHING } from '../learner.ts';
import { firstNonFinite, type Learned } from '../network.ts';
import { norm } from '../optimizer.ts';
import type { Real } from '../real.ts';
import { closeLayer, layerBackward, runLayer, wholeProducts } from '../transformer.ts';
import { scoreValues, valuesBackward } from '../valueHead.ts';
import type { AdapterGradients } from './adapterGradients.ts';
import type { MergedTrunk } from './mergedTrunk.ts';
import { type TokenTree, tokenTrees, wantedOf } from './tokenTree.ts';
import type { Wanted } from '../packing.ts';

/** A value head and its gradients, views of the pools. */
export interface ValueHead {
  readonly weight: Real; // (d)
  readonly bias: Real; // (1)
  readonly dweight: Real;
  readonly dbias: Real;
}

/** The value head among what is learned; null where there is none. */
export function valueHead({ placed, weights, gradients }: Learned): ValueHead | null {
  const [weight, bias] = ['value_head.weight', 'value_head.bias'].map((name) => placed.find((p) => p.name === name));
  if (!weight || !bias) return null;
  const view = (pool: Real, { offset, size }: typeof weight) => pool.subarray(offset, offset + size);
  return {
    weight: view(weights, weight),
    bias: view(weights, bias),
    dweight: view(gradients, weight),
    dbias: view(gradients, bias),
  };
}

/** All that scoring and learning read and write. */
export interface AdaptedLearner {
  readonly learned: Learned;
  readonly trunk: MergedTrunk;
  readonly gradients: AdapterGradients;
  readonly value: ValueHead | null;
  readonly room: RecomputeRoom;
  readonly most: number; // nodes of one pass
  readonly share: boolean; // whether what rows begin with is run once
  readonly head: LanguageHead;
  readonly rotary: Real;
  readonly batch: Batch;
  readonly math: LearningMath;
  readonly scored: Scored;
  /** Runs between two layers of a pass: lets the event loop run, told how much of the stage is done. */
  readonly between: (done: number, total: number) => Promise<void>;
}

/** What the room still holds of the last scoring: the forward pass over all rows, where one pass did. The first step of learning goes on from it. */
interface Scored {
  tree: TokenTree | null; // null: weights, batch or room have changed since
  temperature: number;
}

/** The forward pass over a tree: leaves the final norm's output in `room.hidden`, and each layer's input where `backward` finds it. */
async function forward({ room, trunk, rotary, between }: AdaptedLearner, tree: TokenTree, step: Steps): Promise<void> {
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
    await between(step.done++, step.total);
  }
  arithmetic.rmsNorm(room.hidden, room.finalScales, room.final, tensors.norm, n);
}

/** Whether every layer keeps what it computed of n tokens. */
const isKept = ({ keptTokens }: RecomputeRoom, n: number) => n <= keptTokens;

const layerOf = (room: RecomputeRoom, index: number, n: number) => room.layers[isKept(room, n) ? index : 0]!;

/** Passes through a layer, done and in all. */
interface Steps {
  done: number;
  readonly total: number;
}

function attend(room: RecomputeRoom, { qkv, attended, probabilities }: LayerActivations, n: number): void {
  const { arithmetic, reach, scores } = room;
  const shape = attentionShape(arithmetic.model);
  const keys = qkv.subarray(shape.heads * shape.headDim);
  const values = keys.subarray(shape.kvHeads * shape.headDim);
  arithmetic.attend(attended, probabilities, qkv, keys, values, qkvWidth(shape), reach, scores, n);
}

/** Adds to the gradients what `room.dhidden` means for every adapter; follows `forward`. */
async function backward(learner: AdaptedLearner, tree: TokenTree, step: Steps): Promise<void> {
  const { room, trunk, rotary, gradients } = learner;
  const { arithmetic, inputs, dstream, reach, scores } = room;
  const n = tree.count;
  const { hidden_size: d, num_hidden_layers: layers } = arithmetic.model;
  const products = wholeProducts(arithmetic);
  dstream.fill(0, 0, n * d);
  const { norm: weight } = trunk.tensors;
  arithmetic.rmsNormBackward(dstream, gradients.unwanted, room.dhidden, room.final, room.finalScales, weight, n);
  for (let index = layers - 1; index >= 0; index--) {
    const layer = trunk.tensors.layers[index]!;
    const a = layerOf(room, index, n);
    if (!isKept(room, n)) {
      a.input.set(inputs[index]!.subarray(0, n * d));
      runLayer(products, room, layer, a, rotary, () => attend(room, a, n), n);
    }
    layerBackward(room, layer, a, gradients.sink(index), rotary, n, () =>
      arithmetic.attendBackward(room.dqkv, room.dnarrow, a.probabilities, a.qkv, reach, scores, n),
    );
    await learner.between(step.done++, step.total);
  }
}

const everyRow = ({ rows }: Batch) => Int32Array.from({ length: rows }, (_, row) => row);

/** The head's targets with an index of their own as place. */
const targetsOf = ({ targets }: TokenTree): HeadTargets => ({
  ...targets,
  places: Int32Array.from({ length: targets.count }, (_, j) => j),
});

/** Runs a tree, and writes log-probabilities and entropies of its targets, and values, at all their places. */
async function scoreTree(
  learner: AdaptedLearner,
  tree: TokenTree,
  grammar: Grammar,
  temperature: number,
  to: { readonly logprobs: Real; readonly entropies: Real; readonly values: Real },
  step: Steps,
): Promise<void> {
  const { room, head, trunk, value } = learner;
  await forward(learner, tree, step);
  const { placesOf, count } = tree.targets;
  const logprobs = new Float64Array(count);
  const entropies = new Float64Array(count);
  head.score(room.hidden, trunk.tensors.head, targetsOf(tree), grammar, temperature, logprobs, entropies);
  for (const [j, places] of placesOf.entries()) {
    for (const place of places) {
      to.logprobs[place] = logprobs[j]!;
      to.entropies[place] = entropies[j]!;
    }
  }
  if (value) scoreValues(to.values, room.hidden, value.weight, value.bias, tree.values, head.width);
}

/** Log-probabilities and entropies of every token of the batch, and values where they are wanted, by the weights that are merged. */
export async function scoreAll(
  learner: AdaptedLearner,
  grammar: Grammar,
  temperature: number,
  values: boolean,
  to: Parameters<typeof scoreTree>[4],
): Promise<void> {
  const { batch, most, share, room } = learner;
  const trees = tokenTrees(batch, everyRow(batch), { head: null, value: values ? null : [] }, most, share);
  const step = { done: 0, total: trees.length * room.arithmetic.model.num_hidden_layers };
  for (const tree of trees) await scoreTree(learner, tree, grammar, temperature, to, step);
  const whole = trees.length === 1 && (values || !learner.value);
  learner.scored.tree = whole ? trees[0]! : null;
  learner.scored.temperature = temperature;
}

/** What `scoreAll` left of the batch, if it is still there and as these rows want it; then log-probabilities are the old ones, bit for bit. */
function takeScored(learner: AdaptedLearner, rows: Int32Array, wanted: Wanted, temperature: number): TokenTree | null {
  const { batch, scored } = learner;
  const { tree } = scored;
  scored.tree = null; // what follows overwrites the room
  if (!tree || scored.temperature !== temperature || rows.length !== batch.rows) return null;
  batch.logprobs.set(batch.oldLogprobs);
  batch.entropies.set(batch.oldEntropies);
  if (learner.value) batch.values.set(batch.oldValues);
  return wantedOf(tree, wanted);
}

/**
 * Gradients of the objective over the given rows, in the pool, and what was measured on the way; changes no weight. Rows go through the network in
 * as many passes as fit; the gradient is that of all of them. Weights that hold a NaN are not run.
 * Long: forward, objective and backward stand in the order in which they happen.
 */
export async function accumulateAdapted(
  learner: AdaptedLearner,
  grammar: Grammar,
  rows: Int32Array,
  settings: ObjectiveSettings,
  temperature: number,
): Promise<StepStats> {
  const { batch, learned, head, value, most, share, room, trunk, math } = learner;
  learned.gradients.fill(0);
  const broken = firstNonFinite(learned.placed, learned.weights);
  if (broken !== '') {
    return { ...NOTHING, ...NOT_A_NUMBER, tokens: 0, skipped: 'non-finite', culprit: `weight ${broken}` };
  }
  const valueMask = value ? batch.valueMask : new Float32Array(batch.valueMask.length);
  if (!rows.some((row) => hasToken(batch.lossMask, row, batch.length))) {
    return { ...NOTHING, tokens: 0, skipped: 'empty', culprit: '' };
  }
  const wanted = { head: [batch.lossMask, batch.regularizerMask], value: [valueMask] };
  const scored = takeScored(learner, rows, wanted, temperature);
  const trees = scored ? [scored] : tokenTrees(batch, rows, wanted, most, share);
  const layers = room.arithmetic.model.num_hidden_layers;
  // every tree forward and back, all but the last forward twice
  const step = { done: 0, total: (scored ? 1 : 3 * trees.length - 1) * layers };
  if (!scored) for (const tree of trees) await scoreTree(learner, tree, grammar, temperature, batch, step);
  const parts = math.objective({ ...batch, valueMask }, rows, settings, batch);
  const { dlogprobs, dentropies, dvalues } = batch;
  for (const tree of trees.toReversed()) {
    if (tree !== trees.at(-1)) await forward(learner, tree, step);
    const { targets } = tree;
    room.dhidden.fill(0, 0, tree.count * head.width);
    const sums = (of: Float64Array) =>
      Float64Array.from(targets.placesOf, (places) => places.reduce((sum, place) => sum + of[place]!, 0));
    const given = [sums(dlogprobs), sums(dentropies)] as const;
    head.backward(room.dhidden, null, room.hidden, trunk.tensors.head, targetsOf(tree), grammar, temperature, ...given);
    if (value) {
      const { dweight, dbias, weight } = value;
      valuesBackward(room.dhidden, dweight, dbias, dvalues, room.hidden, weight, tree.values, head.width);
    }
    await backward(learner, tree, step);
  }
  const bad = firstNonFinite(learned.placed, learned.gradients);
  return {
    ...parts,
    gradNorm: norm(learned.gradients),
    criticGradNorm: 0,
    skipped: bad === '' ? '' : 'non-finite',
    culprit: bad === '' ? '' : `gradient ${bad}`,
  };
}
