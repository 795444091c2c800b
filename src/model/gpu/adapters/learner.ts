import type { LearningMath } from '../../learningMath.ts';
import type { StepStats } from '../../policyReport.ts';
import type { ObjectiveSettings } from '../../settings.ts';
import { type TokenTree, tokenTrees, wantedOf } from '../../cpu/adapters/tokenTree.ts';
import type { Batch } from '../../cpu/batch.ts';
import { hasToken, NOT_A_NUMBER, NOTHING } from '../../cpu/learner.ts';
import { firstNonFinite, type Learned } from '../../cpu/network.ts';
import { norm } from '../../cpu/optimizer.ts';
import type { Real } from '../../cpu/real.ts';
import type { TreeNetwork } from './treeNetwork.ts';

/** All that scoring and learning on the device read and write. */
export interface DeviceLearner {
  readonly network: TreeNetwork;
  readonly learned: Learned;
  readonly batch: Batch;
  readonly math: LearningMath;
  readonly layers: number;
  readonly most: number; // nodes of one pass
  /** What the device still holds of the last scoring, where one pass did: the first step of learning goes on from it. */
  readonly scored: { tree: TokenTree | null; temperature: number };
  /** Runs between two layers of a pass, told how much of the stage is done. */
  readonly between: (done: number, total: number) => Promise<void>;
}

/** Where scores of a batch go, (B,T). */
interface Scored {
  readonly logprobs: Real;
  readonly entropies: Real;
}

/** Counts layers of a stage as they are done. */
function steps({ between }: DeviceLearner, total: number): () => Promise<void> {
  let done = 0;
  return () => between(done++, total);
}

/** Runs a tree, and writes log-probabilities and entropies of its targets at all their places. */
async function scoreTree(
  { network }: DeviceLearner,
  tree: TokenTree,
  temperature: number,
  to: Scored,
  step: () => Promise<void>,
): Promise<void> {
  await network.forward(tree, step);
  const { logprobs, entropies } = await network.score(tree, temperature);
  for (const [j, places] of tree.targets.placesOf.entries()) {
    for (const place of places) {
      to.logprobs[place] = logprobs[j]!;
      to.entropies[place] = entropies[j]!;
    }
  }
}

/** Log-probabilities and entropies of every token of the batch, by the weights that are merged. */
export async function scoreAll(learner: DeviceLearner, temperature: number, to: Scored): Promise<void> {
  const { batch, most, layers, scored } = learner;
  const rows = Int32Array.from({ length: batch.rows }, (_, row) => row);
  const trees = tokenTrees(batch, rows, { head: null, value: [] }, most, true);
  const step = steps(learner, trees.length * layers);
  for (const tree of trees) await scoreTree(learner, tree, temperature, to, step);
  scored.tree = trees.length === 1 ? trees[0]! : null;
  scored.temperature = temperature;
}

/** What `scoreAll` left of the batch, if it is still there and as these rows want it; then log-probabilities are the old ones, bit for bit. */
function takeScored(
  { batch, scored }: DeviceLearner,
  rows: Int32Array,
  head: readonly ArrayLike<number>[],
  temperature: number,
): TokenTree | null {
  const { tree } = scored;
  scored.tree = null; // what follows overwrites the room
  if (!tree || scored.temperature !== temperature || rows.length !== batch.rows) return null;
  batch.logprobs.set(batch.oldLogprobs);
  batch.entropies.set(batch.oldEntropies);
  return wantedOf(tree, { head, value: [] });
}

/**
 * Gradients of the objective over the given rows, in `learned`, and what was measured on the way; changes no weight. The objective itself is computed where the batch
 * lies, from log-probabilities and entropies read back once. Weights that hold a NaN are not run.
 */
export async function accumulateOnDevice(
  learner: DeviceLearner,
  rows: Int32Array,
  settings: ObjectiveSettings,
  temperature: number,
): Promise<StepStats> {
  const { batch, learned, most, math, network, layers } = learner;
  learned.gradients.fill(0);
  const broken = firstNonFinite(learned.placed, learned.weights);
  if (broken !== '') {
    return { ...NOTHING, ...NOT_A_NUMBER, tokens: 0, skipped: 'non-finite', culprit: `weight ${broken}` };
  }
  if (!rows.some((row) => hasToken(batch.lossMask, row, batch.length))) {
    return { ...NOTHING, tokens: 0, skipped: 'empty', culprit: '' };
  }
  const head = [batch.lossMask, batch.regularizerMask];
  const scored = takeScored(learner, rows, head, temperature);
  const trees = scored ? [scored] : tokenTrees(batch, rows, { head, value: [] }, most, true);
  // every tree forward and back, all but the last forward twice
  const step = steps(learner, (scored ? 1 : 3 * trees.length - 1) * layers);
  if (!scored) for (const tree of trees) await scoreTree(learner, tree, temperature, batch, step);
  const valueMask = new Float32Array(batch.valueMask.length);
  const parts = math.objective({ ...batch, valueMask }, rows, settings, batch);
  network.clearGradients();
  for (const tree of trees.toReversed()) {
    if (tree !== trees.at(-1)) await network.forward(tree, step);
    const sums = (of: Float64Array) =>
      tree.targets.placesOf.map((places) => places.reduce((sum, place) => sum + of[place]!, 0));
    const given = { dlogprobs: sums(batch.dlogprobs), dentropies: sums(batch.dentropies) };
    await network.backward(tree, given, temperature, step);
  }
  learned.gradients.set(await network.gradients());
  const bad = firstNonFinite(learned.placed, learned.gradients);
  return {
    ...parts,
    gradNorm: norm(learned.gradients),
    criticGradNorm: 0,
    skipped: bad === '' ? '' : 'non-finite',
    culprit: bad === '' ? '' : `gradient ${bad}`,
  };
}
