/** As in verl, `aggregation` applies to policy loss, KL, entropy and value loss alike. */
export const OBJECTIVE_KNOBS = [
  'surrogate',
  'clipLow',
  'clipHigh',
  'dualClip',
  'klEstimator',
  'klTimesRatio',
  'klCoef',
  'entropyCoef',
  'observationLoss',
  'teacherCoef',
  'valueCoef',
  'valueClip',
  'aggregation',
] as const;

/** How the policy loss allows for a sampler that isn't the learner; `src/rl/corrections.ts` has the equations. */
export const CORRECTION_KNOBS = ['correction', 'correctionLevel', 'correctionLow', 'correctionHigh'] as const;

/** Together with the recorded rewards, log-probabilities and values, they determine advantages and masks. */
export const CREDIT_KNOBS = [
  ...([
    'estimator',
    'gamma',
    'lambda',
    'turnGamma',
    'stateWeight',
    'divideByStd',
    'whiten',
    'remask',
    'choiceMask',
  ] as const),
  ...(['klRewardCoef', 'klRewardEstimator', 'lossMask', 'advantageMask', 'trainTurns'] as const),
  ...([
    'advantageTokens',
    'whitenTokens',
    'valueTokens',
    'klRewardTokens',
    'policyTokens',
    'regularizerTokens',
  ] as const),
  ...CORRECTION_KNOBS,
] as const;
