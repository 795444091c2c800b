import { expect, test } from 'vitest';
import { FIELDS, parseConfig, type FieldName, type RunConfig } from '../src/config/config.ts';
import { whyIdle } from '../src/config/idle.ts';

const CRITIC = { critic: 'separate' } as const;
// a knob, where it rests, and where it acts
const RULES: readonly (readonly [FieldName, Partial<RunConfig>, Partial<RunConfig>])[] = [
  ['entities', {}, { env: 'multi-hop' }],
  ['thinkReward', {}, { think: 'on' }],
  ['randomness', {}, { failureRate: 0.1 }],
  ['randomness', { env: 'frozen-lake', slip: 0 }, { env: 'frozen-lake' }],
  ['randomness', { env: 'countdown' }, { env: 'bandit' }],
  ['kernels', { backend: 'cpu' }, { backend: 'auto' }],
  ['labellerNoise', {}, { rewardModel: 'on' }],
  ['labellerTaste', {}, { rewardModel: 'on' }],
  ['preferenceReward', {}, { rewardModel: 'on' }],
  ['informationReward', { env: 'sokoban' }, { env: 'multi-hop' }],
  ['divideByStd', { estimator: 'rloo' }, { estimator: 'grpo' }],
  ['whiten', { estimator: 'reinforce' }, { estimator: 'reinforce++-baseline' }],
  ['gamma', { estimator: 'rloo' }, { estimator: 'reinforce' }],
  ['lambda', { estimator: 'reinforce++' }, { estimator: 'bi-level-gae' }],
  ['turnGamma', { estimator: 'gae' }, { estimator: 'bi-level-gae' }],
  ['gamma', { estimator: 'turn-gae' }, { estimator: 'gae' }],
  ['turnGamma', { estimator: 'grpo' }, { estimator: 'gigpo' }],
  ['stateWeight', { estimator: 'grpo' }, { estimator: 'gigpo' }],
  ['stateWeight', { estimator: 'mt-grpo' }, { estimator: 'turn-credit' }],
  ['turnGamma', { estimator: 'rloo' }, { estimator: 'turn-credit' }],
  ['divideByStd', { estimator: 'maxrl' }, { estimator: 'gigpo' }],
  ['whitenTokens', { estimator: 'turn-gae', critic: 'shared' }, { estimator: 'gae' }],
  ['clipLow', { surrogate: 'plain' }, {}],
  ['clipHigh', { surrogate: 'plain' }, {}],
  ['dualClip', { surrogate: 'plain' }, { surrogate: 'dppo-tv' }],
  ['dualClip', { surrogate: 'gspo' }, {}],
  ['klTimesRatio', {}, { klCoef: 0.1 }],
  ['klEstimator', {}, { klCoef: 0.1 }],
  ['correctionLevel', {}, { correction: 'rejected' }],
  ['correctionLow', { correction: 'truncated' }, { correction: 'masked' }],
  ['correctionHigh', {}, { correction: 'truncated' }],
  ['klRewardEstimator', {}, { klRewardCoef: 0.1 }],
  ['klTarget', {}, { klRewardCoef: 0.1 }],
  ['klHorizon', { klRewardCoef: 0.1 }, { klRewardCoef: 0.1, klTarget: 1 }],
  ['valueCoef', { estimator: 'grpo' }, { estimator: 'gae' }],
  ['valueCoef', { estimator: 'gae', ...CRITIC }, { estimator: 'gae', critic: 'shared' }],
  ['valueClip', { estimator: 'grpo' }, { estimator: 'gae', ...CRITIC }],
  ['criticLearningRate', { estimator: 'gae' }, { estimator: 'gae', ...CRITIC }],
  ['criticWarmup', { critic: 'shared' }, CRITIC],
  ['rows', { env: 'bandit' }, {}],
  ['shown', {}, { rows: 'turn' }],
  ['shownTurns', { rows: 'turn' }, { rows: 'turn', shown: 'last-turns' }],
  ['retokenize', {}, { language: 'text' }],
  ['filterShare', { filter: 'top-p' }, { filter: 'top-fraction' }],
  ['filterTopP', { filter: 'top-fraction' }, { filter: 'top-p' }],
  ['filterScore', {}, { filter: 'drop-uniform' }],
  ['filterScaling', {}, { filter: 'top-p' }],
  ['advantageMask', { estimator: 'grpo' }, { estimator: 'gae' }],
  ['advantageMask', { estimator: 'rloo' }, { estimator: 'rloo', lossMask: 'off' }],
  ['advantageMask', { estimator: 'rloo' }, { estimator: 'rloo', rewardOnLastAction: 'off' }],
  ['advantageMask', { estimator: 'reinforce' }, { estimator: 'reinforce', gamma: 0.9 }],
  ['observationLoss', { lossMask: 'off' }, {}],
  ['teacherCoef', {}, { teacher: 'start' }],
  ['klRewardCoef', { estimator: 'rft' }, { estimator: 'grpo' }],
  ['observationLoss', { policyTokens: 'off' }, { lossMask: 'off', policyTokens: 'on' }],
  ['lossMask', { policyTokens: 'on', regularizerTokens: 'on' }, {}],
  ['whitenTokens', { estimator: 'gae', whiten: 'off' }, { estimator: 'gae' }],
  ['valueTokens', { estimator: 'grpo' }, { estimator: 'gae' }],
  ['klRewardTokens', { advantageMask: 'off' }, { advantageMask: 'off', klRewardCoef: 0.1 }],
  ['regularizerTokens', { entropyCoef: 0 }, {}],
  ['remask', { estimator: 'gae' }, { estimator: 'gae', lossMask: 'off' }],
];

test.each(RULES)('%s rests with %j and acts with %j', (name, rests, acts) => {
  expect(whyIdle(name, parseConfig(rests))).toBeTypeOf('string');
  expect(whyIdle(name, parseConfig(acts))).toBeNull();
});

test('a knob that contradicts the rest stays within reach', () => {
  expect(whyIdle('preferenceReward', { ...parseConfig(), preferenceReward: 1 })).toBeNull();
  expect(whyIdle('criticWarmup', { ...parseConfig(), criticWarmup: 5 })).toBeNull();
});

test('knobs of the run always act', () => {
  const always = (Object.keys(FIELDS) as FieldName[]).filter((name) => FIELDS[name].group === 'run');
  for (const name of always) expect(whyIdle(name, parseConfig())).toBeNull();
});

test('sizes act on a model that is made here, adapters beside a checkpoint, and each model knob on one of them', () => {
  const sizes = ['layers', 'width', 'heads', 'kvHeads', 'ffn', 'tieEmbeddings', 'attentionBias'];
  const checkpoint = parseConfig({ model: 'checkpoint', language: 'text', critic: 'none' });
  for (const name of (Object.keys(FIELDS) as FieldName[]).filter((each) => FIELDS[each].group === 'model')) {
    const adapter = name.startsWith('adapter');
    expect([name, whyIdle(name, parseConfig()) === null]).toEqual([name, !adapter]);
    expect([name, whyIdle(name, checkpoint) === null]).toEqual([name, !sizes.includes(name)]);
  }
});
