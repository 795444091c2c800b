import type { LearningMath } from '../../learningMath.ts';
import type { StepStats } from '../../policyReport.ts';
import type { ObjectiveSettings } from '../../learningSettings.ts';
import type { Grammar } from '../../../domain/tokens.ts';
import type { Batch } from '../batchArrays.ts';
import { hasToken, NAN_MEASUREMENTS, NO_MEASUREMENTS } from '../learner.ts';
import { firstNonFinite, type Learned } from '../network.ts';
import { norm } from '../optimizer.ts';
import type { Wanted } from '../packing.ts';
import type { Real } from '../real.ts';
import { scoreValues, valuesBackward } from '../valueHead.ts';
import { type TokenTree, tokenTrees, wantedOf } from './tokenTree.ts';
import type { ValueHead } from './adaptedValueHead.ts';

/** A network's log-probabilities and entropies of a tree's targets. */
export interface TargetScores {
  readonly logprobs: ArrayLike<number>; // (m)
  readonly entropies: ArrayLike<number>; // (m)
}

/** The gradients that a backward pass starts from. */
export interface GivenGradients {
  readonly dlogprobs: Float64Array; // (m)
  readonly dentropies: Float64Array; // (m)
  /** (n,d), from `zeros`: the gradient of everything else that reads the hidden states. null if nothing does. */
  readonly dhidden: Real | null;
}

/** Called after each layer of a pass, and `within` a layer or the language head. Lets the event loop run. */
export type Step = (within?: 'within') => Promise<void>;

/**
 * Passes over trees of tokens, on any device: forward, the language head at the targets, and backward to the gradients
 * of the adapters.
 */
export interface TreeNetwork {
  setGrammar(grammar: Grammar): void;
  /** Runs a tree forward. The methods below then refer to this tree. */
  forward(tree: TokenTree, step: Step): Promise<void>;
  /** Log-probabilities and entropies of the tree's targets. Call it after `forward`. */
  score(tree: TokenTree, temperature: number, step: Step): Promise<TargetScores>;
  /** The hidden states (n,d) of the last `forward`, for a value head. The buffer may be longer than n·d. */
  hidden(): Promise<Real>;
  /** Zeros (count,d), for `dhidden`. The next call may return the same buffer. */
  zeros(count: number): Real;
  /** Sets all gradients to zero. */
  clearGradients(): void;
  /**
   * Adds to the gradients of all adapters the gradient of Σ dlogprobs·logprob + dentropies·entropy over the tree's
   * targets, and the gradient through `dhidden`. Call it after `forward`. The targets may be fewer than the scored
   * ones.
   */
  backward(tree: TokenTree, given: GivenGradients, temperature: number, step: Step): Promise<void>;
  /**
   * Adds the gradients since `clearGradients` to the pool, in the layout of the adapters. Does nothing if they are in
   * the pool already.
   */
  addGradients(pool: Real): Promise<void>;
}

/** Everything that scoring and learning read and write. */
export interface AdaptedLearner {
  readonly network: TreeNetwork;
  readonly learned: Learned;
  readonly batch: Batch;
  readonly math: LearningMath;
  readonly layers: number;
  readonly width: number; // d
  readonly value: ValueHead | null; // reads hidden states in the memory that holds the batch
  readonly most: number; // largest number of nodes in one pass
  readonly share: boolean; // whether a beginning that several rows share is run only once
  /**
   * The tree of the last scoring, if one pass was enough. The network still holds its activations, so the first
   * learning step can use them.
   */
  readonly scored: { tree: TokenTree | null; temperature: number };
  /** Called between and within the layers of a pass, with the progress of the stage. */
  readonly between: (done: number, total: number) => Promise<void>;
}

/** The arrays (B,T) that scores of a batch are written to. */
interface Scored {
  readonly logprobs: Real;
  readonly entropies: Real;
  readonly values: Real;
}

/** A `Step` that counts the finished layers of a stage. */
export function steps({ between }: AdaptedLearner, total: number): Step {
  let done = 0;
  return (within) => between(within ? done : done++, total);
}

/**
 * Runs a tree. Writes the log-probabilities and entropies of its targets, and the values, to all their places in the
 * batch.
 */
async function scoreTree(
  { network, value, width }: AdaptedLearner,
  tree: TokenTree,
  temperature: number,
  to: Scored,
  step: Step,
): Promise<void> {
  await network.forward(tree, step);
  const { logprobs, entropies } = await network.score(tree, temperature, step);
  for (const [j, places] of tree.targets.placesOf.entries()) {
    for (const place of places) {
      to.logprobs[place] = logprobs[j]!;
      to.entropies[place] = entropies[j]!;
    }
  }
  if (!value || tree.values.count === 0) return;
  scoreValues(to.values, await network.hidden(), value.weight, value.bias, tree.values, width);
}

/**
 * Writes log-probabilities and entropies of every token of the batch to `to`, and with `values` the values, computed
 * with the merged weights.
 */
export async function scoreAll(
  learner: AdaptedLearner,
  temperature: number,
  values: boolean,
  to: Scored,
): Promise<void> {
  const { batch, most, share, layers, scored, value } = learner;
  const rows = Int32Array.from({ length: batch.rows }, (_, row) => row);
  const trees = tokenTrees(batch, rows, { head: null, value: values ? null : [] }, most, share);
  const step = steps(learner, trees.length * layers);
  for (const tree of trees) await scoreTree(learner, tree, temperature, to, step);
  scored.tree = trees.length === 1 && (values || !value) ? trees[0]! : null;
  scored.temperature = temperature;
}

/**
 * Returns the tree of the last `scoreAll`, if the network still holds its activations and it covers exactly these rows.
 * Then the scores of this step are copied from the old ones, which have the same bits. Returns null otherwise.
 */
function takeScored(
  { batch, scored, value }: AdaptedLearner,
  rows: Int32Array,
  wanted: Wanted,
  temperature: number,
): TokenTree | null {
  const { tree } = scored;
  scored.tree = null; // the next pass overwrites the activations
  if (!tree || scored.temperature !== temperature || rows.length !== batch.rows) return null;
  batch.logprobs.set(batch.oldLogprobs);
  batch.entropies.set(batch.oldEntropies);
  if (value) batch.values.set(batch.oldValues);
  return wantedOf(tree, wanted);
}

/**
 * Returns the gradient (n,d) of the value loss for the hidden states. Adds the gradients of the value head itself to
 * its pool.
 */
async function valueGradients(
  { network, batch, width }: AdaptedLearner,
  { weight, dweight, dbias }: ValueHead,
  tree: TokenTree,
): Promise<Real> {
  const dhidden = network.zeros(tree.count);
  valuesBackward(dhidden, dweight, dbias, batch.dvalues, await network.hidden(), weight, tree.values, width);
  return dhidden;
}

/**
 * Computes the gradients of the objective over the given rows, into `learned`, and returns the measurements. Changes no
 * weight. The rows go through the network in as many passes as memory needs, and the gradient is the sum of all passes.
 * If a weight is a NaN or an infinity, nothing runs.
 */
export async function accumulateAdapted(
  learner: AdaptedLearner,
  rows: Int32Array,
  settings: ObjectiveSettings,
  temperature: number,
): Promise<StepStats> {
  const { batch, learned, most, share, math, network, layers, value } = learner;
  learned.gradients.fill(0);
  const badWeight = firstNonFinite(learned.placed, learned.weights);
  if (badWeight !== '') {
    return {
      ...NO_MEASUREMENTS,
      ...NAN_MEASUREMENTS,
      tokens: 0,
      skipped: 'non-finite',
      culprit: `weight ${badWeight}`,
    };
  }
  if (!rows.some((row) => hasToken(batch.lossMask, row, batch.length))) {
    return { ...NO_MEASUREMENTS, tokens: 0, skipped: 'empty', culprit: '' };
  }
  const valueMask = value ? batch.valueMask : new Float32Array(batch.valueMask.length);
  const wanted = { head: [batch.lossMask, batch.regularizerMask], value: [valueMask] };
  const scored = takeScored(learner, rows, wanted, temperature);
  const trees = scored ? [scored] : tokenTrees(batch, rows, wanted, most, share);
  // every tree runs forward and backward; all but the last run forward twice
  const step = steps(learner, (scored ? 1 : 3 * trees.length - 1) * layers);
  if (!scored) for (const tree of trees) await scoreTree(learner, tree, temperature, batch, step);
  const parts = math.objective({ ...batch, valueMask }, rows, settings, batch);
  network.clearGradients();
  for (const tree of trees.toReversed()) {
    if (tree !== trees.at(-1)) await network.forward(tree, step);
    const sums = (of: Float64Array) =>
      Float64Array.from(tree.targets.placesOf, (places) => places.reduce((sum, place) => sum + of[place]!, 0));
    const targetGradients = { dlogprobs: sums(batch.dlogprobs), dentropies: sums(batch.dentropies) };
    const dhidden = value && tree.values.count > 0 ? await valueGradients(learner, value, tree) : null;
    await network.backward(tree, { ...targetGradients, dhidden }, temperature, step);
  }
  await network.addGradients(learned.gradients);
  const badGradient = firstNonFinite(learned.placed, learned.gradients);
  return {
    ...parts,
    gradNorm: norm(learned.gradients),
    criticGradNorm: 0,
    skipped: badGradient === '' ? '' : 'non-finite',
    culprit: badGradient === '' ? '' : `gradient ${badGradient}`,
  };
}
