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
