import { usesCritic, usesGroups } from './estimators.ts';
import type { FieldName, RunConfig } from './fields.ts';
import { actsIn, ENVIRONMENTS, TEXT_ENVS } from './environments.ts';
import type { Problem } from './configProblem.ts';

/** What a knob must not be beside others, or had better not. */
interface Rule {
  readonly field: FieldName | ((c: RunConfig) => FieldName); // to be changed first
  readonly when: (c: RunConfig) => boolean;
  readonly want: (c: RunConfig) => string; // what it stands against
  readonly do: (c: RunConfig) => string;
}

const rows = ({ prompts, groupSize }: RunConfig) => prompts * groupSize;
const steps = ({ epochs, minibatches }: RunConfig) => epochs * minibatches;
const sized = ({ model }: RunConfig) => model === 'sizes';
const adapts = ({ model }: RunConfig) => model === 'checkpoint';
const cutBy = ({ topK }: RunConfig) => (topK > 0 ? 'topK' : 'topP');

const CONTRADICTIONS: readonly Rule[] = [
  {
    field: 'heads',
    when: (c) => sized(c) && c.width % c.heads !== 0,
    want: ({ width }) => `width ${width} must be a multiple of it`,
    do: () => 'Choose a divisor.',
  },
  {
    field: 'heads',
    when: (c) => sized(c) && c.width % c.heads === 0 && ((c.width / c.heads) % 2 !== 0 || c.width / c.heads > 64),
    want: ({ width, heads }) =>
      `the head size, width ${width} / heads ${heads} = ${width / heads}, must be even and at most 64`,
    do: () => 'Choose another number of heads, or another width.',
  },
  {
    field: 'kvHeads',
    when: (c) => sized(c) && c.heads % c.kvHeads !== 0,
    want: ({ heads }) => `heads ${heads} must be a multiple of it`,
    do: () => 'Choose a divisor.',
  },
  {
    field: 'minibatches',
    when: (c) => rows(c) % c.minibatches !== 0,
    want: (c) => `the ${rows(c)} rollouts (prompts × groupSize) must be a multiple of it`,
    do: () => 'Choose a divisor.',
  },
  {
    field: 'critic',
    when: ({ critic, estimator }) => usesCritic(estimator) && critic === 'none',
    want: ({ estimator }) => `${estimator} needs a critic`,
    do: () => 'Set critic to shared or separate, or estimator to grpo.',
  },
  {
    field: 'groupSize',
    when: ({ groupSize, estimator }) => usesGroups(estimator) && groupSize < 2,
    want: ({ estimator }) => `${estimator} compares rollouts of the same prompt`,
    do: () => 'Use 2 or more, or estimator reinforce++.',
  },
  {
    field: 'groupSize',
    when: ({ groupSize, filter }) => filter !== 'none' && groupSize < 2,
    want: ({ filter }) => `the filter ${filter} compares rollouts within a group`,
    do: () => 'Use 2 or more, or filter none.',
  },
  {
    field: 'filterShare',
    when: ({ filter, filterShare, prompts }) => filter === 'top-fraction' && Math.floor(filterShare * prompts) < 1,
    want: ({ prompts }) => `that share of ${prompts} prompts keeps none`,
    do: ({ prompts }) => `Use ${(1 / prompts).toPrecision(2)} or more, or more prompts.`,
  },
  {
    field: 'rewardModel',
    when: ({ rewardModel, preferenceReward }) => preferenceReward > 0 && rewardModel === 'off',
    want: () => 'preferenceReward needs its score',
    do: () => 'Set rewardModel to on, or preferenceReward to 0.',
  },
  {
    field: 'criticWarmup',
    when: ({ critic, criticWarmup }) => criticWarmup > 0 && critic !== 'separate',
    want: () => 'only a separate critic can train alone',
    do: () => 'Set critic to separate, or criticWarmup to 0.',
  },
  {
    field: 'maxTurns',
    when: (c) => actsIn('hops', c.env) && c.maxTurns < c.hops + 1,
    want: ({ hops }) => `${hops} hops need ${hops} calls and an answer`,
    do: ({ hops }) => `Use ${hops + 1} or more.`,
  },
  {
    field: 'maxTurns',
    when: ({ env, oneHopShare, maxTurns }) => env === 'document-search' && oneHopShare < 1 && maxTurns < 3,
    want: () => 'a question over two passages needs two calls and an answer',
    do: () => 'Use 3 or more, or oneHopShare 1.',
  },
  {
    field: 'language',
    when: ({ language, env }) => language === 'text' && !ENVIRONMENTS[env].text,
    want: ({ env }) => `${env} is played in words alone`,
    do: () => `Set language to words, or env to one of ${TEXT_ENVS.join(', ')}.`,
  },
  {
    field: 'think',
    when: ({ language, think }) => language === 'text' && think === 'on',
    want: () => 'text has no think span: a language model thinks in its own words',
    do: () => 'Set think to off, or language to words.',
  },
  {
    field: 'model',
    when: (c) => adapts(c) && c.language === 'words',
    want: () => 'a checkpoint speaks text',
    do: () => 'Set language to text, or model to sizes.',
  },
  {
    field: 'critic',
    when: (c) => adapts(c) && c.critic === 'separate',
    want: () => 'adapters share one frozen model, and a separate critic would need a second',
    do: () => 'Set critic to shared or none.',
  },
  {
    field: 'rewardModel',
    when: (c) => adapts(c) && c.rewardModel === 'on',
    want: () => 'a reward model of the same size doesn’t fit beside the checkpoint',
    do: () => 'Set rewardModel to off, or model to sizes.',
  },
  {
    field: 'storage',
    when: (c) => adapts(c) && c.storage === 'f16',
    want: () => 'a checkpoint keeps the number format of its file, and adapters are f32',
    do: () => 'Set storage to f32.',
  },
  // demonstrations and tasks out of the domain are one hop longer; entities and relations of a path all need a word
  {
    field: 'relations',
    when: (c) => actsIn('names', c.env) && c.relations < c.hops + 1,
    want: ({ hops }) => `evaluation also asks chains of ${hops + 1} hops, one more than training, which need as many`,
    do: ({ hops }) => `Use ${hops + 1} or more.`,
  },
  {
    field: 'entities',
    when: (c) => actsIn('names', c.env) && c.entities < c.hops + 2,
    want: ({ hops }) => `evaluation also asks chains of ${hops + 1} hops, which visit ${hops + 2}`,
    do: ({ hops }) => `Use ${hops + 2} or more.`,
  },
];

const WARNINGS: readonly Rule[] = [
  {
    field: 'klRewardCoef',
    when: ({ klCoef, klRewardCoef }) => klCoef > 0 && klRewardCoef > 0,
    want: () => 'KL is penalised twice, in the reward and in the loss',
    do: () => 'Set one of them to 0.',
  },
  {
    field: 'klRewardCoef',
    when: ({ klRewardCoef, estimator }) => klRewardCoef > 0 && usesGroups(estimator),
    want: ({ estimator }) => `${estimator} compares whole scores, so a KL in the reward mixes two scales`,
    do: () => 'Use klCoef instead.',
  },
  {
    field: 'klEstimator',
    when: ({ klCoef, klEstimator }) => klCoef > 0 && klEstimator === 'k1',
    want: () => 'k1 in the loss has an expected gradient of zero: it adds noise and no pull',
    do: () => 'Use k2 or k3.',
  },
  {
    field: ({ imitationSteps }) => (imitationSteps > 0 ? 'imitationSteps' : 'demonstrator'),
    when: ({ warmStart, imitationSteps, demonstrator }) =>
      (warmStart === 'shipped' || warmStart === 'none') && (imitationSteps > 0 || demonstrator !== 'imperfect'),
    want: () => 'has an effect only if the run makes its own warm start',
    do: () => 'Set warmStart to train or continued.',
  },
  {
    field: cutBy,
    when: ({ topK, topP }) => topK > 0 || topP < 1,
    want: () =>
      'rollouts are drawn from a truncated distribution, but ratio, KL and entropy use the full policy, so each batch is off-policy from the start. rollout/truncation_kl measures this',
    do: (c) => `Set ${cutBy(c)} to ${cutBy(c) === 'topK' ? 0 : 1} to draw from the policy itself.`,
  },
  {
    field: 'surrogate',
    when: (c) => c.surrogate === 'plain' && steps(c) > 1,
    want: (c) => `the plain surrogate assumes on-policy data, but each batch is used for ${steps(c)} steps`,
    do: () => 'Set epochs to 1, or surrogate to clipped.',
  },
];

/** Why a set of in-range knobs still cannot run together; empty when it can. */
export function contradictions(config: RunConfig): readonly Problem[] {
  return problems(CONTRADICTIONS, 'clash', config);
}

/** What runs but seldom does what is meant. */
export function warnings(config: RunConfig): readonly Problem[] {
  return problems(WARNINGS, 'odd', config);
}

function problems(rules: readonly Rule[], kind: Problem['kind'], c: RunConfig): readonly Problem[] {
  return rules
    .filter(({ when }) => when(c))
    .map(({ field: of, want, do: remedy }) => {
      const field = typeof of === 'function' ? of(c) : of;
      return { kind, field, got: String(c[field]), want: want(c), do: remedy(c) };
    });
}
