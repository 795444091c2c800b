import { actsIn, envsWith } from './environments.ts';
import { canWhiten, ESTIMATORS, estimatorsThat, usesCritic, usesGroups, whitens } from './estimators.ts';
import type { FieldName, RunConfig } from './fields.ts';
import { isRandom } from './environmentRandomness.ts';
import { agentOnly, idlePlace, idleSwitch, isPlace } from './masks.ts';

/** Why a knob has no effect in a configuration; null if it has one. */
type IdleReason = (c: RunConfig) => string | null;
const unless =
  (acts: (c: RunConfig) => boolean, why: string): IdleReason =>
  (c) =>
    acts(c) ? null : why;
const first =
  (...reasons: readonly IdleReason[]): IdleReason =>
  (c) =>
    reasons.map((why) => why(c)).find((why) => why !== null) ?? null;

const needsRewardModel = unless(({ rewardModel }) => rewardModel === 'on', 'the reward model is off');
const needsClip = unless(({ surrogate }) => surrogate === 'clipped', 'the plain surrogate has no clip');
const needsKlReward = unless(({ klRewardCoef }) => klRewardCoef > 0, 'KL in reward β is 0');
const needsFilter = unless(({ filter }) => filter !== 'none', 'the group filter is off');
const needsSeparateCritic = unless(({ critic }) => critic === 'separate', 'needs a separate critic');
const needsCritic: IdleReason = ({ estimator }) => (usesCritic(estimator) ? null : `${estimator} uses no critic`);

const needsSizes = unless(({ model }) => model === 'sizes', 'the checkpoint sets it');
const needsAdapters = unless(({ model }) => model === 'checkpoint', 'only for adapters of a checkpoint');

/**
 * The knobs that have no effect, whatever their value, under some conditions. All other knobs always act, if the
 * environment has them.
 */
const IDLE: Readonly<Partial<Record<FieldName, IdleReason>>> = {
  grammar: unless(({ language }) => language === 'words', 'text has no grammar mask'),
  randomness: unless(isRandom, 'this environment has no randomness'),
  kernels: unless(({ backend, model }) => backend !== 'cpu' && model === 'sizes', 'WebGPU only'),
  storage: unless(
    ({ model, storage }) => model === 'sizes' || storage === 'f16',
    'a checkpoint’s weights stay unchanged',
  ),
  thinkReward: unless(({ think }) => think === 'on', 'the think span is off'),
  labellerNoise: needsRewardModel,
  labellerTaste: needsRewardModel,
  // above 0 it contradicts the missing reward model; then it must not be hidden, so that it can be set to 0
  preferenceReward: (c) => (c.preferenceReward === 0 ? needsRewardModel(c) : null),
  lossMask: (c) => idleSwitch('lossMask', c),
  advantageMask: (c) => idleSwitch('advantageMask', c),
  divideByStd: unless(
    ({ estimator }) => ESTIMATORS[estimator].divides === true,
    `${estimatorsThat(({ divides }) => divides === true)} only`,
  ),
  whiten: ({ estimator }) => (canWhiten(estimator) ? null : `${estimator} does not whiten`),
  gamma: ({ estimator }) =>
    usesGroups(estimator) ? `with ${estimator} all tokens of a rollout share one score` : null,
  lambda: unless(({ estimator }) => usesCritic(estimator), `${estimatorsThat(({ critic }) => critic)} only`),
  turnGamma: unless(
    ({ estimator }) => ESTIMATORS[estimator].core === 'turns',
    `${estimatorsThat(({ core }) => core === 'turns')} only`,
  ),
  remask: first(
    unless(whitens, 'nothing is whitened'),
    unless((c) => agentOnly(c, 'advantageTokens'), 'the advantage mask is off'),
    unless((c) => !agentOnly(c, 'policyTokens'), 'the loss mask is on'),
  ),
  clipLow: needsClip,
  clipHigh: needsClip,
  dualClip: needsClip,
  klEstimator: unless(({ klCoef }) => klCoef > 0, 'KL β is 0'),
  klRewardEstimator: needsKlReward,
  klTarget: needsKlReward,
  klHorizon: first(
    needsKlReward,
    unless(({ klTarget }) => klTarget > 0, 'KL target is 0'),
  ),
  valueCoef: first(
    needsCritic,
    unless(({ critic }) => critic !== 'separate', 'a separate critic has its own optimizer'),
  ),
  valueClip: needsCritic,
  criticLearningRate: first(needsCritic, needsSeparateCritic),
  criticWarmup: (c) => (c.criticWarmup === 0 ? needsSeparateCritic(c) : null),
  filterShare: unless(({ filter }) => filter === 'top-fraction', 'top-fraction only'),
  filterTopP: unless(({ filter }) => filter === 'top-p', 'top-p only'),
  filterScore: needsFilter,
  filterScaling: needsFilter,
  adapterRank: needsAdapters,
  adapterAlpha: needsAdapters,
  adapterTargets: needsAdapters,
  layers: needsSizes,
  width: needsSizes,
  heads: needsSizes,
  kvHeads: needsSizes,
  ffn: needsSizes,
  tieEmbeddings: needsSizes,
  attentionBias: needsSizes,
};

/** Why a knob has no effect in this configuration; null if it has one. */
export function idle(name: FieldName, c: RunConfig): string | null {
  if (!actsIn(name, c.env)) return `${envsWith(name).join(', ')} only`;
  return isPlace(name) ? idlePlace(name, c) : (IDLE[name]?.(c) ?? null);
}
