import { actsIn, envsWith } from './environments.ts';
import { canWhiten, ESTIMATORS, estimatorsThat, usesCritic, usesGroups, whitens } from './estimators.ts';
import type { FieldName, RunConfig } from './fields.ts';
import { isRandom } from './environmentRandomness.ts';
import { agentOnly, idlePlace, idleSwitch, isPlace } from './masks.ts';

type Why = (c: RunConfig) => string | null;
const unless =
  (acts: (c: RunConfig) => boolean, why: string): Why =>
  (c) =>
    acts(c) ? null : why;
const first =
  (...reasons: readonly Why[]): Why =>
  (c) =>
    reasons.map((why) => why(c)).find((why) => why !== null) ?? null;

const judged = unless(({ rewardModel }) => rewardModel === 'on', 'the reward model is off');
const clipped = unless(({ surrogate }) => surrogate === 'clipped', 'the plain surrogate has no clip');
const klRewarded = unless(({ klRewardCoef }) => klRewardCoef > 0, 'KL in reward β is 0');
const filtered = unless(({ filter }) => filter !== 'none', 'the group filter is off');
const separate = unless(({ critic }) => critic === 'separate', 'needs a separate critic');
const valued: Why = ({ estimator }) => (usesCritic(estimator) ? null : `${estimator} uses no critic`);

const sized = unless(({ model }) => model === 'sizes', 'the checkpoint sets it');
const adapts = unless(({ model }) => model === 'checkpoint', 'only for adapters of a checkpoint');

/** When a knob does nothing, whatever its value; those that are not here act in every environment they belong to. */
const IDLE: Readonly<Partial<Record<FieldName, Why>>> = {
  grammar: unless(({ language }) => language === 'words', 'text has no grammar mask'),
  randomness: unless(isRandom, 'this environment has no randomness'),
  kernels: unless(({ backend, model }) => backend !== 'cpu' && model === 'sizes', 'WebGPU only'),
  storage: unless(
    ({ model, storage }) => model === 'sizes' || storage === 'f16',
    'a checkpoint’s weights stay unchanged',
  ),
  thinkReward: unless(({ think }) => think === 'on', 'the think span is off'),
  labellerNoise: judged,
  labellerTaste: judged,
  // above 0 it contradicts the missing model, and must stay within reach
  preferenceReward: (c) => (c.preferenceReward === 0 ? judged(c) : null),
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
  clipLow: clipped,
  clipHigh: clipped,
  dualClip: clipped,
  klEstimator: unless(({ klCoef }) => klCoef > 0, 'KL β is 0'),
  klRewardEstimator: klRewarded,
  klTarget: klRewarded,
  klHorizon: first(
    klRewarded,
    unless(({ klTarget }) => klTarget > 0, 'KL target is 0'),
  ),
  valueCoef: first(
    valued,
    unless(({ critic }) => critic !== 'separate', 'a separate critic has its own optimizer'),
  ),
  valueClip: valued,
  criticLearningRate: first(valued, separate),
  criticWarmup: (c) => (c.criticWarmup === 0 ? separate(c) : null),
  filterShare: unless(({ filter }) => filter === 'top-fraction', 'top-fraction only'),
  filterTopP: unless(({ filter }) => filter === 'top-p', 'top-p only'),
  filterScore: filtered,
  filterScaling: filtered,
  adapterRank: adapts,
  adapterAlpha: adapts,
  adapterTargets: adapts,
  layers: sized,
  width: sized,
  heads: sized,
  kvHeads: sized,
  ffn: sized,
  tieEmbeddings: sized,
  attentionBias: sized,
};

/** Why a knob does nothing in this configuration; null where it acts. */
export function idle(name: FieldName, c: RunConfig): string | null {
  if (!actsIn(name, c.env)) return `${envsWith(name).join(', ')} only`;
  return isPlace(name) ? idlePlace(name, c) : (IDLE[name]?.(c) ?? null);
}
