import type { LearningMath } from '../../learningMath.ts';
import type { StepStats } from '../../policyReport.ts';
import type { ObjectiveSettings } from '../../learningSettings.ts';
import type { Grammar } from '../../../domain/tokens.ts';
import type { Batch } from '../batchArrays.ts';
import { hasToken, NOT_A_NUMBER, NOTHING } from '../learner.ts';
import { firstNonFinite, type Learned } from '../network.ts';
import { norm } from '../optimizer.ts';
import type { Wanted } from '../packing.ts';
import type { Real } from '../real.ts';
import { scoreValues, valuesBackward } from '../valueHead.ts';
import { type TokenTree, tokenTrees, wantedOf } from './tokenTree.ts';
import type { ValueHead } from './adaptedValueHead.ts';

/** What a network said of a tree's targets. */
export interface TargetScores {
  readonly logprobs: ArrayLike<number>; // (m)
  readonly entropies: ArrayLike<number>; // (m)
}

/** What a pass back begins with. */
export interface GivenGradients {
  readonly dlogprobs: Float64Array; // (m)
  readonly dentropies: Float64Array; // (m)
  readonly dhidden: Real | null; // (n,d) from `zeros`: what else reads the hidden states; null where nothing does
}

/** Runs behind a layer of a pass, or `within` one or the language head: lets the event loop run. */
export type Step = (within?: 'within') => Promise<void>;

/** Passes over trees of tokens, wherever they run: forward, the language head at the targets, and back to gradients of adapters. */
export interface TreeNetwork {
  setGrammar(grammar: Grammar): void;
  /** Runs a tree forward; what follows speaks of it. */
  forward(tree: TokenTree, step: Step): Promise<void>;
  /** What the network says of the tree's targets, after `forward`. */
  score(tree: TokenTree, temperature: number, step: Step): Promise<TargetScores>;
  /** The hidden states (n,d) that the last `forward` left, and more behind them: what a value head reads. */
  hidden(): Promise<Real>;
  /** Zeros (count,d), for `dhidden`; the next call may return the same. */
  zeros(count: number): Real;
  /** From here on gradients add up from zero. */
  clearGradients(): void;
  /**
   * Adds to the gradients of all adapters that of Σ dlogprobs·logprob + dentropies·entropy over the tree's targets, and what `dhidden` means for them, after
   * `forward`. The targets may be fewer than those that were scored.
   */
  backward(tree: TokenTree, given: GivenGradients, temperature: number, step: Step): Promise<void>;
  /** Adds the gradients since `clearGradients`, laid out as the adapters, to the pool, where they do not lie already. */
  addGradients(pool: Real): Promise<void>;
}

/** All that scoring and learning read and write. */
export interface AdaptedLearner {
  readonly network: TreeNetwork;
  readonly learned: Learned;
  readonly batch: Batch;
  readonly math: LearningMath;
  readonly layers: number;
  readonly width: number; // d
  readonly value: ValueHead | null; // reads hidden states where the batch lies
  readonly most: number; // nodes of one pass
  readonly share: boolean; // whether what rows begin with is run once
  /** What the network still holds of the last scoring, where one pass did: the first step of learning goes on from it. */
  readonly scored: { tree: TokenTree | null; temperature: number };
  /** Runs between two layers of a pass, and within them, told how much of the stage is done. */
  readonly between: (done: number, total: number) => Promise<void>;
}

/** Where scores of a batch go, (B,T). */
interface Scored {
  readonly logprobs: Real;
  readonly entropies: Real;
  readonly values: Real;
}

/** Counts layers of a stage as they are done. */
export function steps({ between }: AdaptedLearner, total: number): Step {
  let done = 0;
  return (within) => between(within ? done : done++, total);
}

/** Runs a tree, and writes log-probabilities and entropies of its targets, and values, at all their places. */
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

/** Log-probabilities and entropies of every token of the batch, and values where they are wanted, by the weights that are merged. */
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

/** What `scoreAll` left of the batch, if it is still there and as these rows want it; then log-probabilities are the old ones, bit for bit. */
function takeScored(
  { batch, scored, value }: AdaptedLearner,
  rows: Int32Array,
  wanted: Wanted,
  temperature: number,
): TokenTree | null {
  const { tree } = scored;
  scored.tree = null; // what follows overwrites the room
  if (!tree || scored.temperature !== temperature || rows.length !== batch.rows) return null;
  batch.logprobs.set(batch.oldLogprobs);
  batch.entropies.set(batch.oldEntropies);
  if (value) batch.values.set(batch.oldValues);
  return wantedOf(tree, wanted);
}

/** What a value head's targets mean for the hidden states (n,d); adds to its own gradients. */
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
 * Gradients of the objective over the given rows, in `learned`, and what was measured on the way; changes no weight. Rows go through the network in as many passes
 * as fit; the gradient is that of all of them. The objective is computed where the batch lies. Weights that hold a NaN are not run.
 */
export async function accumulateAdapted(
  learner: AdaptedLearner,
  rows: Int32Array,
  settings: ObjectiveSettings,
  temperature: number,
): Promise<StepStats> {
  const { batch, learned, most, share, math, network, layers, value } = learner;
  learned.gradients.fill(0);
  const broken = firstNonFinite(learned.placed, learned.weights);
  if (broken !== '') {
    return { ...NOTHING, ...NOT_A_NUMBER, tokens: 0, skipped: 'non-finite', culprit: `weight ${broken}` };
  }
  if (!rows.some((row) => hasToken(batch.lossMask, row, batch.length))) {
    return { ...NOTHING, tokens: 0, skipped: 'empty', culprit: '' };
  }
  const valueMask = value ? batch.valueMask : new Float32Array(batch.valueMask.length);
  const wanted = { head: [batch.lossMask, batch.regularizerMask], value: [valueMask] };
  const scored = takeScored(learner, rows, wanted, temperature);
  const trees = scored ? [scored] : tokenTrees(batch, rows, wanted, most, share);
  // every tree forward and back, all but the last forward twice
  const step = steps(learner, (scored ? 1 : 3 * trees.length - 1) * layers);
  if (!scored) for (const tree of trees) await scoreTree(learner, tree, temperature, batch, step);
  const parts = math.objective({ ...batch, valueMask }, rows, settings, batch);
  network.clearGradients();
  for (const tree of trees.toReversed()) {
    if (tree !== trees.at(-1)) await network.forward(tree, step);
    const sums = (of: Float64Array) =>
      Float64Array.from(tree.targets.placesOf, (places) => places.reduce((sum, place) => sum + of[place]!, 0));
    const given = { dlogprobs: sums(batch.dlogprobs), dentropies: sums(batch.dentropies) };
    const dhidden = value && tree.values.count > 0 ? await valueGradients(learner, value, tree) : null;
    await network.backward(tree, { ...given, dhidden }, temperature, step);
  }
  await network.addGradients(learned.gradients);
  const bad = firstNonFinite(learned.placed, learned.gradients);
  return {
    ...parts,
    gradNorm: norm(learned.gradients),
    criticGradNorm: 0,
    skipped: bad === '' ? '' : 'non-finite',
    culprit: bad === '' ? '' : `gradient ${bad}`,
  };
}
