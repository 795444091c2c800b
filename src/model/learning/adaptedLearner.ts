import type { LearningMath } from '../learningMath.ts';
import { type StepStats, NAN_MEASUREMENTS, NO_MEASUREMENTS } from '../policyReport.ts';
import type { ObjectiveSettings } from '../learningSettings.ts';
import type { Grammar } from '../../domain/tokens.ts';
import { type Batch, hasToken, type ScoreMasks } from './batchArrays.ts';
import { firstNonFinite, type TrainedTensors } from './trainedTensors.ts';
import { norm } from './optimizer.ts';
import type { Real } from './real.ts';
import { scoreValues, valuesBackward } from './valueHead.ts';
import { type TokenTree, tokenTrees, restrictTargets } from './tokenTree.ts';
import type { ValueHead } from './adaptedValueHead.ts';

export interface TargetScores {
  readonly logprobs: ArrayLike<number>; // (m)
  readonly entropies: ArrayLike<number>; // (m)
}

export interface OutputGradients {
  readonly dlogprobs: Float64Array; // (m)
  readonly dentropies: Float64Array; // (m)
  /** (n,d), from `zeros`: the gradient of everything else that reads the hidden states. null if nothing does. */
  readonly dhidden: Real | null;
}

/** Called after each layer of a pass, and with `within` also inside a layer or the language head. Lets the event loop run. */
export type OnProgress = (within?: 'within') => Promise<void>;

/** Passes over trees of tokens, on any device. */
export interface TreeNetwork {
  setGrammar(grammar: Grammar): void;
  /** Runs a tree forward. The methods below then refer to this tree. */
  forward(tree: TokenTree, onProgress: OnProgress): Promise<void>;
  /** Log-probabilities and entropies of the tree's targets. Call it after `forward`. */
  score(tree: TokenTree, temperature: number, onProgress: OnProgress): Promise<TargetScores>;
  /** The hidden states (n,d) of the last `forward`, for a value head. The buffer may be longer than n·d. */
  hidden(): Promise<Real>;
  /** Zeros (count,d), for `dhidden`. The next call may return the same buffer. */
  zeros(count: number): Real;
  clearGradients(): void;
  /**
   * Adds to the gradients of all adapters the gradient of Σ dlogprobs·logprob + dentropies·entropy over the tree's
   * targets, and the gradient through `dhidden`. Call it after `forward`. The targets may be fewer than the scored
   * ones.
   */
  backward(tree: TokenTree, given: OutputGradients, temperature: number, onProgress: OnProgress): Promise<void>;
  /** Adds the gradients since `clearGradients`, in the layout of the adapters. Does nothing if they are in the pool already. */
  addGradients(pool: Real): Promise<void>;
}

export interface AdaptedLearner {
  readonly network: TreeNetwork;
  readonly trained: TrainedTensors;
  readonly batch: Batch;
  readonly math: LearningMath;
  readonly layers: number;
  readonly width: number; // d
  readonly valueHead: ValueHead | null; // reads hidden states in the memory that holds the batch
  readonly maxNodes: number; // largest number of nodes in one pass
  readonly sharePrefixes: boolean; // whether a beginning that several rows share is run only once
  /** The tree of the last scoring, if one pass was enough: the first learning step can use the activations that are still held. */
  readonly lastScoring: { tree: TokenTree | null; temperature: number };
  /** Called between and within the layers of a pass, with the progress of the stage. */
  readonly reportProgress: (done: number, total: number) => Promise<void>;
}

/** The arrays (B,T) that scores of a batch are written to. */
interface ScoreArrays {
  readonly logprobs: Real;
  readonly entropies: Real;
  readonly values: Real;
}

/** Returns an `OnProgress` that counts the finished layers of a stage. */
export function progressCounter({ reportProgress }: AdaptedLearner, total: number): OnProgress {
  let layersDone = 0;
  return (within) => reportProgress(within ? layersDone : layersDone++, total);
}

/** Writes the log-probabilities and entropies of its targets, and the values, to all their indices in the batch. */
async function scoreTree(
  { network, valueHead, width }: AdaptedLearner,
  tree: TokenTree,
  temperature: number,
  out: ScoreArrays,
  onProgress: OnProgress,
): Promise<void> {
  await network.forward(tree, onProgress);
  const { logprobs, entropies } = await network.score(tree, temperature, onProgress);
  for (const [j, batchIndices] of tree.targets.batchIndexLists.entries()) {
    for (const batchIndex of batchIndices) {
      out.logprobs[batchIndex] = logprobs[j]!;
      out.entropies[batchIndex] = entropies[j]!;
    }
  }
  if (!valueHead || tree.values.count === 0) return;
  scoreValues(out.values, await network.hidden(), valueHead.weight, valueHead.bias, tree.values, width);
}

/** Log-probabilities and entropies of every token go to `out`, and with `values` the values, computed with the merged weights. */
export async function scoreAll(
  learner: AdaptedLearner,
  temperature: number,
  values: boolean,
  out: ScoreArrays,
): Promise<void> {
  const { batch, maxNodes, sharePrefixes, layers, lastScoring, valueHead } = learner;
  const rows = Int32Array.from({ length: batch.rows }, (_, row) => row);
  const trees = tokenTrees(batch, rows, { head: null, value: values ? null : [] }, maxNodes, sharePrefixes);
  const onProgress = progressCounter(learner, trees.length * layers);
  for (const tree of trees) await scoreTree(learner, tree, temperature, out, onProgress);
  lastScoring.tree = trees.length === 1 && (values || !valueHead) ? trees[0]! : null;
  lastScoring.temperature = temperature;
}

/** The tree of the last `scoreAll`, if still held and of exactly these rows: its scores, with the same bits, are copied. Else null. */
function takeLastScoring(
  { batch, lastScoring, valueHead }: AdaptedLearner,
  rows: Int32Array,
  masks: ScoreMasks,
  temperature: number,
): TokenTree | null {
  const { tree } = lastScoring;
  lastScoring.tree = null; // the next pass overwrites the activations
  if (!tree || lastScoring.temperature !== temperature || rows.length !== batch.rows) return null;
  batch.logprobs.set(batch.oldLogprobs);
  batch.entropies.set(batch.oldEntropies);
  if (valueHead) batch.values.set(batch.oldValues);
  return restrictTargets(tree, masks);
}

/** The gradient (n,d) of the value loss for the hidden states. Adds the gradients of the value head itself to its pool. */
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
 * Computes the gradients of the objective over the given rows, into `trained`, and returns the measurements. Changes no
 * weight. The rows go through the network in as many passes as memory needs, and the gradient is the sum of all passes.
 * If a weight is a NaN or an infinity, nothing runs.
 */
export async function accumulateAdapted(
  learner: AdaptedLearner,
  rows: Int32Array,
  settings: ObjectiveSettings,
  temperature: number,
): Promise<StepStats> {
  const { batch, trained, maxNodes, sharePrefixes, math, network, layers, valueHead } = learner;
  trained.gradients.fill(0);
  const badWeight = firstNonFinite(trained.layout, trained.weights);
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
  const valueMask = valueHead ? batch.valueMask : new Float32Array(batch.valueMask.length);
  const masks = { head: [batch.lossMask, batch.regularizerMask], value: [valueMask] };
  const reusedTree = takeLastScoring(learner, rows, masks, temperature);
  const trees = reusedTree ? [reusedTree] : tokenTrees(batch, rows, masks, maxNodes, sharePrefixes);
  // every tree runs forward and backward; all but the last run forward twice
  const onProgress = progressCounter(learner, (reusedTree ? 1 : 3 * trees.length - 1) * layers);
  if (!reusedTree) for (const tree of trees) await scoreTree(learner, tree, temperature, batch, onProgress);
  const parts = math.objective({ ...batch, valueMask }, rows, settings, batch);
  network.clearGradients();
  for (const tree of trees.toReversed()) {
    if (tree !== trees.at(-1)) await network.forward(tree, onProgress);
    const sumAtTargets = (values: Float64Array) =>
      Float64Array.from(tree.targets.batchIndexLists, (batchIndices) =>
        batchIndices.reduce((sum, batchIndex) => sum + values[batchIndex]!, 0),
      );
    const targetGradients = { dlogprobs: sumAtTargets(batch.dlogprobs), dentropies: sumAtTargets(batch.dentropies) };
    const dhidden = valueHead && tree.values.count > 0 ? await valueGradients(learner, valueHead, tree) : null;
    await network.backward(tree, { ...targetGradients, dhidden }, temperature, onProgress);
  }
  await network.addGradients(trained.gradients);
  const badGradient = firstNonFinite(trained.layout, trained.gradients);
  return {
    ...parts,
    gradNorm: norm(trained.gradients),
    criticGradNorm: 0,
    skipped: badGradient === '' ? '' : 'non-finite',
    culprit: badGradient === '' ? '' : `gradient ${badGradient}`,
  };
}
