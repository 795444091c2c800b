import type { LearningMath } from '../../learningMath.ts';
import type { StepStats } from '../../policyReport.ts';
import type { ObjectiveSettings } from '../../settings.ts';
import type { Wanted } from '../../cpu/packing.ts';
import type { ValueHead } from '../../cpu/adapters/learner.ts';
import { type TokenTree, tokenTrees, wantedOf } from '../../cpu/adapters/tokenTree.ts';
import type { Batch } from '../../cpu/batch.ts';
import { hasToken, NOT_A_NUMBER, NOTHING } from '../../cpu/learner.ts';
import { firstNonFinite, type Learned } from '../../cpu/network.ts';
import { norm } from '../../cpu/optimizer.ts';
import type { Real } from '../../cpu/real.ts';
import { scoreValues, valuesBackward } from '../../cpu/valueHead.ts';
import type { TreeNetwork } from './treeNetwork.ts';

/** All that scoring and learning on the device read and write. */
export interface DeviceLearner {
  readonly network: TreeNetwork;
  readonly learned: Learned;
  readonly batch: Batch;
  readonly math: LearningMath;
  readonly layers: number;
  readonly width: number; // d
  readonly value: ValueHead | null; // reads hidden states where the batch lies
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
  readonly values: Real;
}

/** Counts layers of a stage as they are done. */
function steps({ between }: DeviceLearner, total: number): () => Promise<void> {
  let done = 0;
  return () => between(done++, total);
}

/** Runs a tree, and writes log-probabilities and entropies of its targets, and values, at all their places. */
async function scoreTree(
  { network, value, width }: DeviceLearner,
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
  if (!value || tree.values.count === 0) return;
  scoreValues(to.values, await network.hidden(), value.weight, value.bias, tree.values, width);
}

/** Log-probabilities and entropies of every token of the batch, and values where they are wanted, by the weights that are merged. */
export async function scoreAll(
  learner: DeviceLearner,
  temperature: number,
  values: boolean,
  to: Scored,
): Promise<void> {
  const { batch, most, layers, scored, value } = learner;
  const rows = Int32Array.from({ length: batch.rows }, (_, row) => row);
  const trees = tokenTrees(batch, rows, { head: null, value: values ? null : [] }, most, true);
  const step = steps(learner, trees.length * layers);
  for (const tree of trees) await scoreTree(learner, tree, temperature, to, step);
  scored.tree = trees.length === 1 && (values || !value) ? trees[0]! : null;
  scored.temperature = temperature;
}

/** What `scoreAll` left of the batch, if it is still there and as these rows want it; then log-probabilities are the old ones, bit for bit. */
function takeScored(
  { batch, scored, value }: DeviceLearner,
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
  { network, batch, width }: DeviceLearner,
  { weight, dweight, dbias }: ValueHead,
  tree: TokenTree,
): Promise<Float32Array> {
  const dhidden = new Float32Array(tree.count * width);
  valuesBackward(dhidden, dweight, dbias, batch.dvalues, await network.hidden(), weight, tree.values, width);
  return dhidden;
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
  const { batch, learned, most, math, network, layers, value } = learner;
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
  const trees = scored ? [scored] : tokenTrees(batch, rows, wanted, most, true);
  // every tree forward and back, all but the last forward twice
  const step = steps(learner, (scored ? 1 : 3 * trees.length - 1) * layers);
  if (!scored) for (const tree of trees) await scoreTree(learner, tree, temperature, batch, step);
  const parts = math.objective({ ...batch, valueMask }, rows, settings, batch);
  network.clearGradients();
  for (const tree of trees.toReversed()) {
    if (tree !== trees.at(-1)) await network.forward(tree, step);
    const sums = (of: Float64Array) =>
      tree.targets.placesOf.map((places) => places.reduce((sum, place) => sum + of[place]!, 0));
    const given = { dlogprobs: sums(batch.dlogprobs), dentropies: sums(batch.dentropies) };
    const dhidden = value && tree.values.count > 0 ? await valueGradients(learner, value, tree) : null;
    await network.backward(tree, { ...given, dhidden }, temperature, step);
  }
  const made = await network.gradients(); // of a value head those are zero, and already there
  for (let i = 0; i < made.length; i++) learned.gradients[i] = learned.gradients[i]! + made[i]!;
  const bad = firstNonFinite(learned.placed, learned.gradients);
  return {
    ...parts,
    gradNorm: norm(learned.gradients),
    criticGradNorm: 0,
    skipped: bad === '' ? '' : 'non-finite',
    culprit: bad === '' ? '' : `gradient ${bad}`,
  };
}
