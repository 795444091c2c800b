/** The knobs that the loss of an optimizer step is made of; `aggregation` is that of the policy loss and the KL, and of entropy and value loss as in verl. */
export const OBJECTIVE_KNOBS = [
  'surrogate',
  'clipLow',
  'clipHigh',
  'dualClip',
  'klEstimator',
  'klCoef',
  'entropyCoef',
  'valueCoef',
  'valueClip',
  'aggregation',
] as const;

/** The knobs that credit is made of: of rewards, log-probabilities and values as they were recorded, advantages and masks follow from these. */
export const CREDIT_KNOBS = [
  ...(['estimator', 'gamma', 'lambda', 'turnGamma', 'divideByStd', 'whiten', 'remask', 'choiceMask'] as const),
  ...(['klRewardCoef', 'klRewardEstimator', 'lossMask', 'advantageMask'] as const),
  ...([
    'advantageTokens',
    'whitenTokens',
    'valueTokens',
    'klRewardTokens',
    'policyTokens',
    'regularizerTokens',
  ] as const),
] as const;
