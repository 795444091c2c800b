import type { LearningMath, ObjectiveParts } from '../learningMath.ts';
import { type StepStats, NAN_MEASUREMENTS, NO_MEASUREMENTS } from '../policyReport.ts';
import type { ObjectiveSettings, OptimizerSettings } from '../learningSettings.ts';
import type { Grammar } from '../../domain/tokens.ts';
import { type Batch, hasToken, type ScoreMasks } from './batchArrays.ts';
import { firstNonFinite, type TrainedTensors } from './trainedTensors.ts';
import { adamW, norm } from './optimizer.ts';
import type { Real } from './real.ts';
import { scoreValues, type ValueHead, valuesBackward } from './valueHead.ts';
import { type TokenTree, tokenTrees, restrictTargets } from './tokenTree.ts';

export interface TargetScores {
  readonly logprobs: ArrayLike<number>; // (m)
  readonly entropies: ArrayLike<number>; // (m)
}

export interface OutputGradients {
  readonly dlogprobs: Float64Array; // (m)
  readonly dentropies: Float64Array; // (m)
  /** (n,d), from `zeros`: the gradient of everything else that reads the hidden states. null if nothing does. */
  readonly dhidden: Real | null;
  readonly teacher?: TeacherRows | null; // adds the gradient of Σ dteachers·teacherLogprobs; absent or null: none
}

/** A teacher's log-probabilities for the tokens of a batch, as in `Batch`. */
export type TeacherRows = Pick<Batch, 'teacherTable' | 'teacherMask' | 'teacherLogprobs' | 'dteachers'>;

/** What scoring does with a teacher's rows: compares the policy with them, or writes the policy's own as the teacher's. */
export interface TeacherScores {
  readonly rows: TeacherRows;
  readonly writes: boolean;
}

/** Called after each layer of a pass, and with `within` also inside a layer or the language head. Lets the event loop run. */
export type OnProgress = (within?: 'within') => Promise<void>;

/** Passes over trees of tokens, on any device. */
export interface TreeNetwork {
  setGrammar(grammar: Grammar): void;
  /**
   * Runs a tree forward. The methods below then refer to this tree. With `keep` false, `backward` can't follow; a
   * network may keep its activations nevertheless.
   */
  forward(tree: TokenTree, onProgress: OnProgress, keep?: boolean): Promise<void>;
  /** Log-probabilities and entropies of the tree's targets. Call it after `forward`. Networks of adapters know no teacher. */
  score(tree: TokenTree, temperature: number, onProgress: OnProgress, teacher?: TeacherScores): Promise<TargetScores>;
  /** The hidden states (n,d) of the last `forward`, for a value head. The buffer may be longer than n·d. */
  hidden(): Promise<Real>;
  /** Zeros (count,d), for `dhidden`. The next call may return the same buffer. */
  zeros(count: number): Real;
  clearGradients(): void;
  /**
   * Adds to the gradients of all trained weights the gradient of Σ dlogprobs·logprob + dentropies·entropy over the
   * tree's targets, and the gradient through `dhidden`. Call it after `forward`. The targets may be fewer than the
   * scored ones.
   */
  backward(tree: TokenTree, given: OutputGradients, temperature: number, onProgress: OnProgress): Promise<void>;
  /** Adds the gradients since `clearGradients`, in the layout of the pool. Does nothing if they are in the pool already. */
  addGradients(pool: Real): Promise<void>;
}

/** A network that is trained as a whole, or whose adapters are. */
export interface TrainedNetwork {
  readonly network: TreeNetwork;
  readonly trained: TrainedTensors;
  readonly valueHead: ValueHead | null; // reads hidden states in the memory that holds the batch
}

/** The policy, and what learning needs besides. */
export interface TreeLearner extends TrainedNetwork {
  readonly separateCritic?: TrainedNetwork | null; // absent: none
  readonly batch: Batch;
  readonly math: LearningMath;
  readonly layers: number;
  readonly width: number; // d
  readonly maxNodes: number; // largest number of nodes in one pass
  readonly maxScoredNodes?: number; // the same while scoring; absent: maxNodes
  readonly maxParts?: number; // parts of a tree, at most; absent: 1
  readonly sharePrefixes: boolean; // whether a beginning that several rows share is run only once
  /** Whether a learning step may use the activations of the last scoring, which are kept for it then; absent: yes. */
  readonly reusesScoring?: boolean;
  /** The tree of the last scoring, if one pass was enough: the first learning step can use the activations that are still held. */
  readonly lastScoring: { tree: TokenTree | null; temperature: number };
  /** Called between and within the layers of a pass, with the progress of the stage. */
  readonly reportProgress: (done: number, total: number) => Promise<void>;
}

/** The arrays (B,T) that scores of a batch are written to. */
export interface ScoreArrays {
  readonly logprobs: Real;
  readonly entropies: Real;
  readonly values: Real;
}

/** Returns an `OnProgress` that counts the finished layers of a stage. */
export function progressCounter({ reportProgress }: TreeLearner, total: number): OnProgress {
  let layersDone = 0;
  return (within) => reportProgress(within ? layersDone : layersDone++, total);
}

const treesOf = ({ batch, sharePrefixes, maxParts }: TreeLearner, rows: Int32Array, masks: ScoreMasks, most: number) =>
  tokenTrees(batch, rows, masks, most, sharePrefixes, maxParts);

/** Writes the log-probabilities and entropies of its targets, and the values, to all their indices in the batch. */
async function scoreTree(
  { network, valueHead, separateCritic, width }: TreeLearner,
  tree: TokenTree,
  temperature: number,
  out: ScoreArrays,
  onProgress: OnProgress,
  keep: boolean,
  teacher?: TeacherScores,
): Promise<void> {
  await network.forward(tree, onProgress, keep);
  const { logprobs, entropies } = await network.score(tree, temperature, onProgress, teacher);
  for (const [j, batchIndices] of tree.targets.batchIndexLists.entries()) {
    for (const batchIndex of batchIndices) {
      out.logprobs[batchIndex] = logprobs[j]!;
      out.entropies[batchIndex] = entropies[j]!;
    }
  }
  if (tree.values.count === 0) return;
  if (valueHead) scoreValues(out.values, await network.hidden(), valueHead.weight, valueHead.bias, tree.values, width);
  const critic = separateCritic;
  if (!critic?.valueHead) return;
  await critic.network.forward(tree, onProgress, keep);
  const { weight, bias } = critic.valueHead;
  scoreValues(out.values, await critic.network.hidden(), weight, bias, tree.values, width);
}

/** Log-probabilities and entropies of every token go to `out`, and with `values` the values, computed with the current weights. */
export async function scoreAll(
  learner: TreeLearner,
  temperature: number,
  values: boolean,
  out: ScoreArrays,
  teacher?: TeacherScores,
): Promise<void> {
  const { batch, maxNodes, maxScoredNodes = maxNodes, layers, lastScoring, valueHead, separateCritic } = learner;
  const rows = Int32Array.from({ length: batch.rows }, (_, row) => row);
  const trees = treesOf(learner, rows, { head: null, value: values ? null : [] }, maxScoredNodes);
  const onProgress = progressCounter(learner, trees.length * layers);
  const keep = learner.reusesScoring !== false;
  for (const tree of trees) await scoreTree(learner, tree, temperature, out, onProgress, keep, teacher);
  const isWhole = trees.length === 1 && (values || (!valueHead && !separateCritic));
  lastScoring.tree = keep && isWhole ? trees[0]! : null;
  lastScoring.temperature = temperature;
}

/** The tree of the last `scoreAll`, if still held and of exactly these rows: its scores, with the same bits, are copied. Else null. */
function takeLastScoring(
  { batch, lastScoring, valueHead, separateCritic }: TreeLearner,
  rows: Int32Array,
  masks: ScoreMasks,
  temperature: number,
): TokenTree | null {
  const { tree } = lastScoring;
  lastScoring.tree = null; // the next pass overwrites the activations
  if (!tree || lastScoring.temperature !== temperature || rows.length !== batch.rows) return null;
  batch.logprobs.set(batch.oldLogprobs);
  batch.entropies.set(batch.oldEntropies);
  if (valueHead || separateCritic) batch.values.set(batch.oldValues);
  return restrictTargets(tree, masks);
}

/** The gradient (n,d) of the value loss for the hidden states. Adds the gradients of the value head itself to its pool. */
async function valueGradients(
  { batch, width }: TreeLearner,
  { network, valueHead }: TrainedNetwork,
  tree: TokenTree,
): Promise<Real | null> {
  if (!valueHead || tree.values.count === 0) return null;
  const { weight, dweight, dbias } = valueHead;
  const dhidden = network.zeros(tree.count);
  valuesBackward(dhidden, dweight, dbias, batch.dvalues, await network.hidden(), weight, tree.values, width);
  return dhidden;
}

const NOTHING = new Float64Array();

/** Adds the gradients of the value loss to those of a separate critic, which has no other loss. */
async function criticBackward(
  learner: TreeLearner,
  critic: TrainedNetwork,
  tree: TokenTree,
  temperature: number,
  onProgress: OnProgress,
): Promise<void> {
  const dhidden = await valueGradients(learner, critic, tree);
  const given = { dlogprobs: NOTHING, dentropies: NOTHING, dhidden };
  if (dhidden) await critic.network.backward(restrictTargets(tree, { head: [], value: null }), given, temperature, onProgress); // prettier-ignore
}

/**
 * Computes the gradients of the objective over the given rows, into the pools of `trained`, and returns the
 * measurements. Changes no weight. The rows go through the network in as many passes as memory needs, and the gradient
 * is the sum of all passes. If a weight is a NaN or an infinity, nothing runs, and the losses, the entropy, the KL and
 * the gradient norm are NaN. The loss of a separate critic is the value loss with coefficient 1, which isn't part of
 * `total`. Its tensors are named `critic.NAME`.
 */
export async function accumulateGradients(
  learner: TreeLearner,
  rows: Int32Array,
  settings: ObjectiveSettings,
  temperature: number,
): Promise<StepStats> {
  const { batch, trained, maxNodes, math, network, layers, valueHead, separateCritic } = learner;
  trained.gradients.fill(0);
  separateCritic?.trained.gradients.fill(0);
  const badWeight = firstBadTensor('weight', learner);
  if (badWeight !== '')
    return { ...NO_MEASUREMENTS, ...NAN_MEASUREMENTS, tokens: 0, skipped: 'non-finite', culprit: badWeight };
  if (!rows.some((row) => hasToken(batch.lossMask, row, batch.length)))
    return { ...NO_MEASUREMENTS, tokens: 0, skipped: 'empty', culprit: '' };
  const valueMask = valueHead || separateCritic ? batch.valueMask : new Float32Array(batch.valueMask.length);
  const predicted = settings.observationLoss === 0 ? [] : [batch.observationMask];
  const masks = { head: [batch.lossMask, batch.regularizerMask, ...predicted], value: [valueMask] };
  const reusedTree = takeLastScoring(learner, rows, masks, temperature);
  const trees = reusedTree ? [reusedTree] : treesOf(learner, rows, masks, maxNodes);
  // with an estimator that needs no critic, there are no values to learn
  const critic = trees.some(({ values }) => values.count > 0) ? separateCritic : null;
  // every tree runs forward and backward; all but the last run forward twice
  const onProgress = progressCounter(learner, (reusedTree ? 1 : 3 * trees.length - 1) * layers);
  const rowsOfTeacher = batch.teacherMask.includes(1) ? batch : null;
  const teacher = rowsOfTeacher ? { rows: rowsOfTeacher, writes: false } : undefined;
  if (!reusedTree)
    for (const tree of trees) await scoreTree(learner, tree, temperature, batch, onProgress, true, teacher);
  const coefficients = separateCritic ? { ...settings, valueCoef: 1 } : settings;
  const parts = math.objective({ ...batch, valueMask }, rows, coefficients, batch);
  network.clearGradients();
  critic?.network.clearGradients();
  for (const tree of trees.toReversed()) {
    const isHeld = tree === trees.at(-1);
    const targetGradients = { dlogprobs: sumAtTargets(tree, batch.dlogprobs), dentropies: sumAtTargets(tree, batch.dentropies) }; // prettier-ignore
    if (!isHeld) await network.forward(tree, onProgress);
    const dhidden = await valueGradients(learner, learner, tree);
    await network.backward(
      tree,
      { ...targetGradients, dhidden, teacher: settings.teacherCoef === 0 ? null : rowsOfTeacher },
      temperature,
      onProgress,
    );
    if (!critic) continue;
    if (!isHeld) await critic.network.forward(tree, onProgress);
    await criticBackward(learner, critic, tree, temperature, onProgress);
  }
  await network.addGradients(trained.gradients);
  if (critic) await critic.network.addGradients(critic.trained.gradients);
  const badGradient = firstBadTensor('gradient', learner);
  return {
    ...parts,
    total: separateCritic ? policyTotal(settings, parts) : parts.total,
    gradNorm: norm(trained.gradients),
    criticGradNorm: critic ? norm(critic.trained.gradients) : 0,
    computedTokens: trees.reduce((sum, { count }) => sum + count, 0),
    trainedTokens: trees.reduce((sum, { unsharedCount }) => sum + unsharedCount, 0),
    skipped: badGradient === '' ? '' : 'non-finite',
    culprit: badGradient,
  };
}

/** A target can stand for several tokens of the batch: its gradient is the sum of theirs. */
const sumAtTargets = ({ targets }: TokenTree, values: Float64Array) =>
  Float64Array.from(targets.batchIndexLists, (batchIndices) =>
    batchIndices.reduce((sum, batchIndex) => sum + values[batchIndex]!, 0),
  );

/** The loss without the value loss. A zero coefficient keeps a KL that is not finite out of it. */
const policyTotal = (
  { entropyCoef, klCoef, observationLoss, teacherCoef }: ObjectiveSettings,
  { policyLoss, entropy, kl, ...parts }: ObjectiveParts,
) =>
  policyLoss -
  entropyCoef * entropy +
  (klCoef === 0 ? 0 : klCoef * kl) +
  observationLoss * parts.observationLoss +
  teacherCoef * parts.teacherKl;

/** Returns 'KIND NAME' of the first tensor with a NaN or an infinity, or ''. Searches the policy before the critic. */
function firstBadTensor(kind: 'weight' | 'gradient', { trained, separateCritic }: TreeLearner): string {
  const badIn = ({ layout, weights, gradients }: TrainedTensors) =>
    firstNonFinite(layout, kind === 'weight' ? weights : gradients);
  const badInPolicy = badIn(trained);
  if (badInPolicy !== '') return `${kind} ${badInPolicy}`;
  const badInCritic = separateCritic ? badIn(separateCritic.trained) : '';
  return badInCritic === '' ? '' : `${kind} critic.${badInCritic}`;
}

/** Skips the policy with `criticOnly`, a separate critic without targets, and everything if `stats` says that the step was skipped. */
export function stepNetworks(
  { trained, separateCritic, batch }: TreeLearner,
  stats: StepStats,
  settings: OptimizerSettings,
): void {
  if (stats.skipped !== '') return;
  if (!settings.criticOnly) adamW(trained, stats.gradNorm, settings.learningRate, settings);
  if (separateCritic && batch.valueMask.includes(1))
    adamW(separateCritic.trained, stats.criticGradNorm, settings.criticLearningRate, settings);
}
