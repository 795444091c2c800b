import { actsIn, envsWith, RIGHT_ANSWER_ENVS, YOUR_ENVIRONMENT } from './environments.ts';
import {
  canWhiten,
  discountsTurns,
  ESTIMATOR_NAMES,
  ESTIMATORS,
  estimatorsWith,
  sharesTurnAdvantage,
  usesCritic,
  usesGroups,
  usesRewards,
  weighsTurns,
  whitensAdvantages,
} from './estimators.ts';
import type { FieldName, RunConfig } from './fields.ts';
import { hasRandomness } from './environmentRandomness.ts';
import { agentOnly, whyMaskIdle, whySwitchIdle, isMaskKnob } from './masks.ts';

/** Returns why a knob has no effect in a configuration; null if it has one. */
type IdleRule = (c: RunConfig) => string | null;
const idleUnless =
  (acts: (c: RunConfig) => boolean, why: string): IdleRule =>
  (c) =>
    acts(c) ? null : why;
const firstReason =
  (...reasons: readonly IdleRule[]): IdleRule =>
  (c) =>
    reasons.map((why) => why(c)).find((why) => why !== null) ?? null;

const needsRewardModel = idleUnless(({ rewardModel }) => rewardModel === 'on', 'the reward model is off');
const needsClip = idleUnless(({ surrogate }) => surrogate !== 'plain', 'the plain surrogate has no clip');
const needsKl = idleUnless(({ klCoef }) => klCoef > 0, 'KL β is 0');
const needsCorrection = idleUnless(({ correction }) => correction !== 'none', 'the off-policy correction is off');
const needsFilter = idleUnless(({ filter }) => filter !== 'none', 'the group filter is off');
const needsTurnRows = idleUnless(({ rows }) => rows === 'turn', 'a row is a whole episode');
const needsSeparateCritic = idleUnless(({ critic }) => critic === 'separate', 'needs a separate critic');
const needsRewards: IdleRule = ({ estimator }) => (usesRewards(estimator) ? null : `${estimator} reads no rewards`);
const needsKlReward = firstReason(
  needsRewards,
  idleUnless(({ klRewardCoef }) => klRewardCoef > 0, 'KL in reward β is 0'),
);
const needsCritic: IdleRule = ({ estimator }) => (usesCritic(estimator) ? null : `${estimator} uses no critic`);

const needsSizes = idleUnless(({ model }) => model === 'sizes', 'the checkpoint sets it');
const needsAdapters = idleUnless(({ model }) => model === 'checkpoint', 'only for adapters of a checkpoint');

/** Why a knob has no effect under some conditions, whatever its value. Other knobs always act, if the environment has them. */
const IDLE_RULES: Readonly<Partial<Record<FieldName, IdleRule>>> = {
  grammar: idleUnless(({ language }) => language === 'words', 'text has no grammar mask'),
  randomness: idleUnless(hasRandomness, 'this environment has no randomness'),
  kernels: idleUnless(({ backend, model }) => backend !== 'cpu' && model === 'sizes', 'WebGPU only'),
  storage: idleUnless(
    ({ model, storage }) => model === 'sizes' || storage === 'f16',
    'a checkpoint’s weights stay unchanged',
  ),
  thinkReward: idleUnless(({ think }) => think === 'on', 'the think span is off'),
  labellerNoise: needsRewardModel,
  labellerTaste: needsRewardModel,
  // A value above 0 contradicts the other knob. It must then not be hidden, so that it can be set to 0.
  informationReward: idleUnless(
    ({ informationReward, env }) => informationReward > 0 || RIGHT_ANSWER_ENVS.includes(env),
    'no turn is known to be right',
  ),
  preferenceReward: (c) => (c.preferenceReward === 0 ? needsRewardModel(c) : null),
  lossMask: (c) => whySwitchIdle('lossMask', c),
  advantageMask: (c) => whySwitchIdle('advantageMask', c),
  observationLoss: idleUnless(
    (c) => agentOnly(c, 'policyTokens'),
    'the loss mask is off, so observations are graded like the agent’s own words',
  ),
  divideByStd: idleUnless(
    ({ estimator }) => ESTIMATORS[estimator].dividesByStd === true,
    `${estimatorsWith(({ dividesByStd }) => dividesByStd === true)} only`,
  ),
  whiten: ({ estimator }) => (canWhiten(estimator) ? null : `${estimator} does not whiten`),
  gamma: (c) => {
    const { estimator } = c;
    if (usesGroups(estimator)) return `with ${estimator} all tokens of a rollout share one score`;
    return sharesTurnAdvantage(estimator) ? `${estimator} discounts per turn` : needsRewards(c);
  },
  lambda: idleUnless(({ estimator }) => usesCritic(estimator), `${estimatorsWith(({ critic }) => critic)} only`),
  turnGamma: idleUnless(
    ({ estimator }) => discountsTurns(estimator),
    `${estimatorsWith(({ advantageKind }) => ['turns', 'whole-turns', 'group-turns'].includes(advantageKind))} only`,
  ),
  stateWeight: idleUnless(
    ({ estimator }) => weighsTurns(estimator),
    `${ESTIMATOR_NAMES.filter(weighsTurns).join(' and ')} only`,
  ),
  remask: firstReason(
    idleUnless(whitensAdvantages, 'nothing is whitened'),
    idleUnless((c) => agentOnly(c, 'advantageTokens'), 'the advantage mask is off'),
    idleUnless((c) => !agentOnly(c, 'policyTokens'), 'the loss mask is on'),
  ),
  rewardOnLastAction: needsRewards,
  clipLow: needsClip,
  clipHigh: needsClip,
  dualClip: firstReason(
    needsClip,
    idleUnless(({ surrogate }) => surrogate === 'clipped' || surrogate === 'dppo-tv', 'clipped and dppo-tv only'),
  ),
  klEstimator: needsKl,
  klTimesRatio: needsKl,
  teacherCoef: idleUnless(({ teacher }) => teacher !== 'none', 'there is no teacher'),
  correctionLevel: needsCorrection,
  staleTurns: idleUnless(({ staleness }) => staleness > 0, 'staleness is 0'),
  correctionLow: firstReason(
    needsCorrection,
    idleUnless(({ correction }) => correction !== 'truncated', 'truncated has no lower limit'),
  ),
  correctionHigh: needsCorrection,
  klRewardCoef: needsRewards,
  klRewardEstimator: needsKlReward,
  klTarget: needsKlReward,
  klHorizon: firstReason(
    needsKlReward,
    idleUnless(({ klTarget }) => klTarget > 0, 'KL target is 0'),
  ),
  valueCoef: firstReason(
    needsCritic,
    idleUnless(({ critic }) => critic !== 'separate', 'a separate critic has its own optimizer'),
  ),
  valueClip: needsCritic,
  criticLearningRate: firstReason(needsCritic, needsSeparateCritic),
  criticWarmup: (c) => (c.criticWarmup === 0 ? needsSeparateCritic(c) : null),
  rows: idleUnless(({ env }) => env === YOUR_ENVIRONMENT || actsIn('maxTurns', env), 'an episode has one turn'),
  shown: needsTurnRows,
  shownTurns: firstReason(
    needsTurnRows,
    idleUnless(({ shown }) => shown === 'last-turns', 'last-turns only'),
  ),
  retokenize: idleUnless(({ language }) => language === 'text', 'tokens are words, so nothing can drift'),
  filterShare: idleUnless(({ filter }) => filter === 'top-fraction', 'top-fraction only'),
  filterTopP: idleUnless(({ filter }) => filter === 'top-p', 'top-p only'),
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
export function whyIdle(name: FieldName, c: RunConfig): string | null {
  if (!actsIn(name, c.env)) return `${envsWith(name).join(', ')} only`;
  return isMaskKnob(name) ? whyMaskIdle(name, c) : (IDLE_RULES[name]?.(c) ?? null);
}
