import { type Estimator, ESTIMATORS, usesCritic, usesRewards } from './estimators.ts';
import type { FieldName, RunConfig } from './fields.ts';
import { actsIn, ENVIRONMENTS, RIGHT_ANSWER_ENVS, TEXT_ENVS, YOUR_ENVIRONMENT } from './environments.ts';
import type { Problem } from '../base/problem.ts';

interface KnobProblem extends Problem {
  readonly place: FieldName;
  readonly what: string;
  readonly remedy: string;
}

/** A combination of knobs that can't run, or that runs but seldom makes sense. */
interface Rule {
  readonly field: FieldName | ((c: RunConfig) => FieldName); // the knob to change first
  readonly when: (c: RunConfig) => boolean; // whether the configuration has this combination
  readonly reason: (c: RunConfig) => string; // the reason why the knob's value doesn't fit, without a full stop
  readonly remedy: (c: RunConfig) => string;
}

const rows = ({ prompts, groupSize }: RunConfig) => prompts * groupSize;
const steps = ({ epochs, minibatches }: RunConfig) => epochs * minibatches;
const comparesRollouts = (estimator: Estimator) => ESTIMATORS[estimator].baseline !== undefined;
const hasSizes = ({ model }: RunConfig) => model === 'sizes';
const trainsAdapters = ({ model }: RunConfig) => model === 'checkpoint';
const truncatingKnob = ({ topK }: RunConfig) => (topK > 0 ? 'topK' : 'topP');

const CONTRADICTIONS: readonly Rule[] = [
  {
    field: 'heads',
    when: (c) => hasSizes(c) && c.width % c.heads !== 0,
    reason: ({ width }) => `width ${width} must be a multiple of it`,
    remedy: () => 'Choose a divisor.',
  },
  {
    field: 'heads',
    when: (c) => hasSizes(c) && c.width % c.heads === 0 && ((c.width / c.heads) % 2 !== 0 || c.width / c.heads > 64),
    reason: ({ width, heads }) =>
      `the head size, width ${width} / heads ${heads} = ${width / heads}, must be even and at most 64`,
    remedy: () => 'Choose another number of heads, or another width.',
  },
  {
    field: 'kvHeads',
    when: (c) => hasSizes(c) && c.heads % c.kvHeads !== 0,
    reason: ({ heads }) => `heads ${heads} must be a multiple of it`,
    remedy: () => 'Choose a divisor.',
  },
  {
    field: 'minibatches',
    when: (c) => rows(c) % c.minibatches !== 0,
    reason: (c) => `the ${rows(c)} rollouts (prompts × groupSize) must be a multiple of it`,
    remedy: () => 'Choose a divisor.',
  },
  {
    field: 'critic',
    when: ({ critic, estimator }) => usesCritic(estimator) && critic === 'none',
    reason: ({ estimator }) => `${estimator} needs a critic`,
    remedy: () => 'Set critic to shared or separate, or estimator to grpo.',
  },
  {
    field: 'imitationHorizon',
    when: ({ imitationHorizon, imitationSteps }) =>
      imitationHorizon > 0 && (imitationSteps === 0 || imitationHorizon < imitationSteps),
    reason: ({ imitationSteps }) => `imitationSteps is ${imitationSteps}`,
    remedy: () => 'Set imitationHorizon to 0, or to at least a number of imitationSteps above 0.',
  },
  {
    field: 'groupSize',
    when: ({ groupSize, estimator }) => comparesRollouts(estimator) && groupSize < 2,
    reason: ({ estimator }) => `${estimator} compares rollouts of the same prompt`,
    remedy: () => 'Use 2 or more, or estimator reinforce++.',
  },
  {
    field: 'groupSize',
    when: ({ groupSize, filter }) => filter !== 'none' && groupSize < 2,
    reason: ({ filter }) => `the filter ${filter} compares rollouts within a group`,
    remedy: () => 'Use 2 or more, or filter none.',
  },
  {
    field: 'filterShare',
    when: ({ filter, filterShare, prompts }) => filter === 'top-fraction' && Math.floor(filterShare * prompts) < 1,
    reason: ({ prompts }) => `that share of ${prompts} prompts keeps none`,
    remedy: ({ prompts }) => `Use ${(1 / prompts).toPrecision(2)} or more, or more prompts.`,
  },
  {
    field: 'rewardModel',
    when: ({ rewardModel, preferenceReward }) => preferenceReward > 0 && rewardModel === 'off',
    reason: () => 'preferenceReward needs its score',
    remedy: () => 'Set rewardModel to on, or preferenceReward to 0.',
  },
  {
    field: 'informationReward',
    when: ({ informationReward, env }) => informationReward > 0 && !RIGHT_ANSWER_ENVS.includes(env),
    reason: ({ env }) => `${env} has no turn that is known to be right, with others before it`,
    remedy: () => `Set informationReward to 0, or env to one of ${RIGHT_ANSWER_ENVS.join(', ')}.`,
  },
  {
    field: 'rows',
    when: ({ rows: row, rewardModel }) => row === 'turn' && rewardModel === 'on',
    reason: () => 'the reward model reads an episode as one text',
    remedy: () => 'Set it to episode, or rewardModel to off.',
  },
  {
    field: 'criticWarmup',
    when: ({ critic, criticWarmup }) => criticWarmup > 0 && critic !== 'separate',
    reason: () => 'only a separate critic can train alone',
    remedy: () => 'Set critic to separate, or criticWarmup to 0.',
  },
  {
    field: 'maxTurns',
    when: (c) => actsIn('hops', c.env) && c.maxTurns < c.hops + 1,
    reason: ({ hops }) => `${hops} hops need ${hops} calls and an answer`,
    remedy: ({ hops }) => `Use ${hops + 1} or more.`,
  },
  {
    field: 'maxTurns',
    when: ({ env, oneHopShare, maxTurns }) => env === 'document-search' && oneHopShare < 1 && maxTurns < 3,
    reason: () => 'a question over two passages needs two calls and an answer',
    remedy: () => 'Use 3 or more, or oneHopShare 1.',
  },
  {
    field: 'shown',
    when: ({ rows, shown, env }) => rows === 'turn' && shown === 'observe' && env !== YOUR_ENVIRONMENT,
    reason: () => 'only a class of your own has observe()',
    remedy: () => 'Set shown to everything, last-turns or answers.',
  },
  {
    field: 'language',
    when: ({ language, env }) => language === 'text' && !ENVIRONMENTS[env].text,
    reason: ({ env }) => `${env} is played in words alone`,
    remedy: () => `Set language to words, or env to one of ${TEXT_ENVS.join(', ')}.`,
  },
  {
    field: 'think',
    when: ({ language, think }) => language === 'text' && think === 'on',
    reason: () => 'text has no think span: a language model thinks in its own words',
    remedy: () => 'Set think to off, or language to words.',
  },
  {
    field: 'model',
    when: (c) => trainsAdapters(c) && c.language === 'words',
    reason: () => 'a checkpoint speaks text',
    remedy: () => 'Set language to text, or model to sizes.',
  },
  {
    field: 'critic',
    when: (c) => trainsAdapters(c) && c.critic === 'separate',
    reason: () => 'adapters share one frozen model, and a separate critic would need a second',
    remedy: () => 'Set critic to shared or none.',
  },
  {
    field: 'rewardModel',
    when: (c) => trainsAdapters(c) && c.rewardModel === 'on',
    reason: () => 'a reward model of the same size doesn’t fit beside the checkpoint',
    remedy: () => 'Set rewardModel to off, or model to sizes.',
  },
  {
    field: 'teacher',
    when: (c) => trainsAdapters(c) && c.teacher !== 'none',
    reason: () => 'a teacher gives every token a number for each of the checkpoint’s many words, which doesn’t fit',
    remedy: () => 'Set teacher to none, or model to sizes.',
  },
  {
    field: 'teacher',
    when: ({ teacher, klCoef, klRewardCoef }) => teacher === 'shipped' && (klCoef > 0 || klRewardCoef > 0),
    reason: () => 'it takes the place of the reference, which the KL needs',
    remedy: () => 'Set klCoef and klRewardCoef to 0, or teacher to expert or start.',
  },
  {
    field: 'storage',
    when: (c) => trainsAdapters(c) && c.storage === 'f16',
    reason: () => 'a checkpoint keeps the number format of its file, and adapters are f32',
    remedy: () => 'Set storage to f32.',
  },
  // shifted tasks are one hop longer than training tasks, and each entity and relation of a chain needs its own word
  {
    field: 'relations',
    when: (c) => actsIn('names', c.env) && c.relations < c.hops + 1,
    reason: ({ hops }) => `evaluation also asks chains of ${hops + 1} hops, one more than training, which need as many`,
    remedy: ({ hops }) => `Use ${hops + 1} or more.`,
  },
  {
    field: 'entities',
    when: (c) => actsIn('names', c.env) && c.entities < c.hops + 2,
    reason: ({ hops }) => `evaluation also asks chains of ${hops + 1} hops, which visit ${hops + 2}`,
    remedy: ({ hops }) => `Use ${hops + 2} or more.`,
  },
];

const WARNINGS: readonly Rule[] = [
  {
    field: 'estimator',
    when: ({ estimator, teacher }) => estimator === 'none' && teacher === 'none',
    reason: () => 'it reads no rewards, and there is no teacher, so nothing is learned',
    remedy: () => 'Set teacher to expert or shipped and start a new run, or choose another estimator.',
  },
  {
    field: 'klRewardCoef',
    when: ({ klCoef, klRewardCoef }) => klCoef > 0 && klRewardCoef > 0,
    reason: () => 'KL is penalised twice, in the reward and in the loss',
    remedy: () => 'Set one of them to 0.',
  },
  {
    field: 'klRewardCoef',
    when: ({ klRewardCoef, estimator }) => klRewardCoef > 0 && comparesRollouts(estimator),
    reason: ({ estimator }) => `${estimator} compares whole scores, so a KL in the reward mixes two scales`,
    remedy: () => 'Use klCoef instead.',
  },
  {
    field: 'klEstimator',
    when: ({ klCoef, klEstimator }) => klCoef > 0 && klEstimator === 'k1',
    reason: () => 'k1 in the loss has an expected gradient of zero: it adds noise and no pull',
    remedy: () => 'Use k2 or k3.',
  },
  {
    field: ({ imitationSteps }) => (imitationSteps > 0 ? 'imitationSteps' : 'demonstrator'),
    when: ({ warmStart, imitationSteps, demonstrator }) =>
      (warmStart === 'shipped' || warmStart === 'none') && (imitationSteps > 0 || demonstrator !== 'imperfect'),
    reason: () => 'has an effect only if the run makes its own warm start',
    remedy: () => 'Set warmStart to train or continued.',
  },
  {
    field: truncatingKnob,
    when: ({ topK, topP, correction }) => (topK > 0 || topP < 1) && correction === 'none',
    reason: () =>
      'rollouts are drawn from a truncated distribution, but ratio, KL and entropy use the full policy, so each batch is off-policy from the start. rollout/truncation_kl measures this',
    remedy: (c) =>
      `Set ${truncatingKnob(c)} to ${truncatingKnob(c) === 'topK' ? 0 : 1} to draw from the policy itself, or correction to truncated.`,
  },
  {
    field: 'staleness',
    when: ({ staleness, correction }) => staleness > 0 && correction === 'none',
    reason: () =>
      'older weights draw the rollouts, but the ratio compares with the weights just before the update. Nothing corrects the difference. rollout_corr/kl measures it',
    remedy: () => 'Set correction to truncated, masked or rejected, or staleness to 0.',
  },
  {
    field: 'retokenize',
    when: (c) => c.retokenize === 'on' && c.language === 'text' && c.rows === 'episode' && c.correction === 'none',
    reason: () =>
      'the update trains encoded tokens, but others of the same text were drawn. Nothing corrects the difference. rollout_corr/kl measures it',
    remedy: () => 'Set correction to truncated, masked or rejected, or retokenize to off.',
  },
  {
    field: 'clipHigh',
    when: ({ surrogate, clipLow, clipHigh }) => surrogate === 'gspo' && Math.max(clipLow, clipHigh) > 0.1,
    reason: () =>
      'GSPO clips a mean of log-ratios over a rollout, which stays much nearer to 1 than the ratio of a token',
    remedy: () => 'Set clipLow to 3e-4 and clipHigh to 4e-4, as in the paper.',
  },
  {
    field: 'estimator',
    when: (c) => c.estimator === 'turn-credit' && c.processReward === 0 && c.informationReward === 0,
    reason: () => 'no turn is paid for progress, so turn-credit is grpo',
    remedy: () => 'Set processReward or informationReward above 0.',
  },
  {
    field: 'estimator',
    when: (c) => c.estimator === 'maxrl' && (c.invalidPenalty > 0 || c.turnCost > 0 || c.informationReward > 0),
    reason: () => 'a group’s mean score is the divisor, and penalties and lost information bring it near 0 or below',
    remedy: () => 'Set invalidPenalty, turnCost and informationReward to 0.',
  },
  {
    field: 'surrogate',
    when: (c) => c.surrogate === 'plain' && steps(c) > 1 && usesRewards(c.estimator),
    reason: (c) => `the plain surrogate assumes on-policy data, but each batch is used for ${steps(c)} steps`,
    remedy: () => 'Set epochs to 1, or surrogate to clipped.',
  },
];

/** The contradictions between the knobs of a configuration. Empty if it can run. */
export function contradictions(config: RunConfig): readonly KnobProblem[] {
  return problemsOf(CONTRADICTIONS, config, (value, against) => `${value}, but ${against}.`);
}

/** The settings of a configuration that can run, but seldom do what the user wants. */
export function warnings(config: RunConfig): readonly KnobProblem[] {
  return problemsOf(WARNINGS, config, (_, against) => `${against}.`);
}

function problemsOf(
  rules: readonly Rule[],
  c: RunConfig,
  sentence: (value: string | number, against: string) => string,
): readonly KnobProblem[] {
  return rules
    .filter(({ when }) => when(c))
    .map(({ field: knob, reason, remedy }) => {
      const field = typeof knob === 'function' ? knob(c) : knob;
      return { place: field, what: sentence(c[field], reason(c)), remedy: remedy(c) };
    });
}
