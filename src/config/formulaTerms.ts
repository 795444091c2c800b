import type { FieldName } from './fields.ts';
import type { MaskKnob } from './masks.ts';

/** The tokens of a batch that a term reads or pushes. `src/page/rollout/touchedTokens.ts` finds them. */
export type TokenSet =
  | 'paid' // tokens with a reward from the environment
  | 'klReward'
  | 'advantage'
  | 'scored' // tokens that count in the rollout's score: the advantage mask, and forced tokens of the agent
  | 'group' // the `scored` tokens of all rollouts of the task on screen
  | 'solved' // tokens of rollouts that solved their task
  | 'turnEnds'
  | 'sameState' // tokens of turns that are compared with another turn of the task on screen
  | 'whiten'
  | 'outside' // response tokens outside the advantage mask
  | 'kept' // response tokens of rows whose prompt the filter kept
  | 'policy'
  | 'clippedLow' // clipped because A is below 0 and the ratio fell below its limit
  | 'clippedHigh' // clipped because A is above 0 and the ratio rose above its limit
  | 'negative' // tokens in the policy loss with A below 0
  | 'regularizer'
  | 'observation' // words of observations, if the policy loss leaves observations out
  | 'value';

interface Term {
  readonly name: string;
  readonly doc: string; // what it does, in one or two sentences
  readonly knobs: readonly FieldName[]; // the knobs that it depends on
  /** The knobs of the masks that it uses. A mask knob may follow a switch, which then counts as a knob of the term too. */
  readonly maskKnobs?: readonly MaskKnob[];
  readonly tokens: TokenSet;
}

/** All terms that a formula can have, with their knobs and tokens. `src/config/formula.ts` puts them into equations. */
const TERMS = {
  paid: {
    name: 'rewards from the environment',
    doc: 'Each part of the reward stands at the token that earned it.',
    knobs: [
      ...(['outcomeReward', 'answerReward', 'processReward', 'invalidPenalty', 'thinkReward', 'callReward'] as const),
      ...(['turnCost', 'preferenceReward', 'informationReward', 'rewardOnLastAction'] as const),
    ],
    tokens: 'paid',
  },
  klReward: {
    name: 'KL in the reward',
    doc: 'A penalty at each of these tokens: how far the policy just before the update is from the reference.',
    knobs: ['klRewardCoef', 'klRewardEstimator', 'klTarget', 'klHorizon', 'choiceMask'],
    maskKnobs: ['klRewardTokens'],
    tokens: 'klReward',
  },
  score: {
    name: 'score of a rollout',
    doc: 'The rewards of a rollout are added up to one number.',
    knobs: [],
    maskKnobs: ['advantageTokens'],
    tokens: 'scored',
  },
  baseline: {
    name: 'baseline of the group',
    doc: 'The mean score of the rollouts of the same task. More rollouts make it less noisy.',
    knobs: ['groupSize'],
    tokens: 'group',
  },
  spread: {
    name: 'spread of the group',
    doc: 'Divides by the standard deviation (n − 1) of the group’s scores.',
    knobs: ['divideByStd', 'groupSize'],
    tokens: 'group',
  },
  advantage: {
    name: 'advantage',
    doc: 'How much better than expected things went. The lit tokens carry it.',
    knobs: ['estimator', 'choiceMask'],
    maskKnobs: ['advantageTokens'],
    tokens: 'advantage',
  },
  solved: {
    name: 'solved rollouts',
    doc: 'Only rollouts that solved their task are imitated. Rewards don’t count.',
    knobs: ['estimator'],
    maskKnobs: ['advantageTokens'],
    tokens: 'solved',
  },
  critic: {
    name: 'values',
    doc: 'V is the reward the critic expects before a token; V′ is the same for the next token inside the mask.',
    knobs: ['critic'],
    tokens: 'advantage',
  },
  gamma: {
    name: 'discount',
    doc: 'Multiplies later rewards, once per token of the advantage mask.',
    knobs: ['gamma'],
    tokens: 'advantage',
  },
  lambda: {
    name: 'trace decay',
    doc: 'How much later tokens count for earlier ones. At 0 only the next value counts, at 1 every later reward does.',
    knobs: ['lambda'],
    tokens: 'advantage',
  },
  turnGamma: {
    name: 'discount per turn',
    doc: 'Multiplies later rewards once per turn, from one turn to the next.',
    knobs: ['turnGamma'],
    tokens: 'turnEnds',
  },
  sameState: {
    name: 'baseline of turns',
    doc: 'The mean over turns of the group that began in the same state, or that have the same number. Lit: all turns that are compared with another one. A turn that is alone gets nothing from it.',
    knobs: ['groupSize'],
    tokens: 'sameState',
  },
  progress: {
    name: 'progress of a turn',
    doc: 'What the turn improved: its process and information rewards. It counts for the turn and, less and less, for those before.',
    knobs: ['processReward', 'informationReward', 'rewardOnLastAction'],
    tokens: 'paid',
  },
  stateWeight: {
    name: 'weight of turns',
    doc: 'How much a turn’s own advantage counts beside that of its rollout.',
    knobs: ['stateWeight'],
    tokens: 'sameState',
  },
  whiten: {
    name: 'whitening',
    doc: 'Mean 0 and variance 1: both are taken over these tokens of the whole batch.',
    knobs: ['whiten', 'choiceMask'],
    maskKnobs: ['whitenTokens'],
    tokens: 'whiten',
  },
  remask: {
    name: 'mask after whitening',
    doc: 'Sets these back to 0; without it they keep −mean/std.',
    knobs: ['remask'],
    tokens: 'outside',
  },
  kept: {
    name: 'group filter',
    doc: 'Only prompts that the filter kept are learned from.',
    knobs: ['filter', 'filterShare', 'filterTopP', 'filterScore'],
    tokens: 'kept',
  },
  scale: {
    name: 'scale after the filter',
    doc: 'Multiplies advantages by the kept share of prompts, or its root.',
    knobs: ['filterScaling'],
    tokens: 'kept',
  },
  ratio: {
    name: 'ratio',
    doc: 'The token’s probability now, divided by that just before the update. It is 1 at the first optimizer step.',
    knobs: ['temperature'],
    tokens: 'policy',
  },
  correction: {
    name: 'off-policy correction',
    doc: 'Makes up for rollouts that older weights drew, or top-k and top-p. No gradient goes through it.',
    knobs: ['correction', 'correctionLevel'],
    maskKnobs: ['policyTokens'],
    tokens: 'policy',
  },
  correctionLow: {
    name: 'lower limit of the correction',
    doc: 'Below this ratio a token or rollout is dropped.',
    knobs: ['correctionLow'],
    tokens: 'policy',
  },
  correctionHigh: {
    name: 'upper limit of the correction',
    doc: 'A larger ratio is cut to this, or its token or rollout is dropped.',
    knobs: ['correctionHigh'],
    tokens: 'policy',
  },
  surrogate: {
    name: 'policy loss of a token',
    doc: 'Pushes the token’s probability up where A is above 0, down where it is below.',
    knobs: ['surrogate', 'choiceMask', 'trainTurns'],
    maskKnobs: ['policyTokens'],
    tokens: 'policy',
  },
  clipLow: {
    name: 'lower clip',
    doc: 'Where A is below 0 and the ratio is below this limit, the push is exactly 0.',
    knobs: ['clipLow'],
    tokens: 'clippedLow',
  },
  clipHigh: {
    name: 'upper clip',
    doc: 'Where A is above 0 and the ratio is above this limit, the push is exactly 0.',
    knobs: ['clipHigh'],
    tokens: 'clippedHigh',
  },
  dualClip: {
    name: 'dual clip',
    doc: 'Caps the loss where A is below 0. Above the cap the push is 0.',
    knobs: ['dualClip'],
    tokens: 'negative',
  },
  aggregation: {
    name: 'aggregation',
    doc: 'How the losses of all tokens become one number, and how much each token counts.',
    knobs: ['aggregation', 'choiceMask', 'trainTurns'],
    maskKnobs: ['policyTokens'],
    tokens: 'policy',
  },
  entropy: {
    name: 'entropy bonus',
    doc: 'Rewards high entropy (an undecided policy) at these tokens.',
    knobs: ['entropyCoef', 'choiceMask', 'trainTurns'],
    maskKnobs: ['regularizerTokens'],
    tokens: 'regularizer',
  },
  kl: {
    name: 'KL in the loss',
    doc: 'Pulls the policy back to the reference, the weights the run began with, at these tokens.',
    knobs: ['klCoef', 'klEstimator', 'klTimesRatio', 'choiceMask', 'trainTurns'],
    maskKnobs: ['regularizerTokens'],
    tokens: 'regularizer',
  },
  observation: {
    name: 'observation loss',
    doc: 'Teaches the agent to predict these words of its tools: their mean cross-entropy, by their own count.',
    knobs: ['observationLoss'],
    maskKnobs: ['policyTokens'],
    tokens: 'observation',
  },
  teacher: {
    name: 'KL to the teacher',
    doc: 'Pulls the whole distribution at these tokens to the teacher’s: Σ_v π(v)·(log π(v) − log q(v)), exactly, over all legal words.',
    knobs: ['teacher', 'teacherCoef'],
    maskKnobs: ['policyTokens'],
    tokens: 'policy',
  },
  value: {
    name: 'value loss',
    doc: 'Trains the critic on the returns of these tokens.',
    knobs: ['valueCoef', 'criticWarmup', 'choiceMask'],
    maskKnobs: ['valueTokens'],
    tokens: 'value',
  },
  valueClip: {
    name: 'value clip',
    doc: 'How far a value may move from its old estimate before its loss is clipped.',
    knobs: ['valueClip'],
    tokens: 'value',
  },
} as const satisfies Record<string, Term>;

export type TermId = keyof typeof TERMS;
export const TERM_LIST: Readonly<Record<TermId, Term>> = TERMS;
