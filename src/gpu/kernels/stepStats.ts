/** Statistics of an optimizer step, in the order of step_stats.wgsl and of a log line. */
export const STEP_STATS = [
  'policyLoss',
  'entropy',
  'kl',
  'clipFraction',
  'clipFractionLower',
  'approxKl',
  'observationLoss',
  'teacherKl',
  'valueLoss',
  'tokens',
] as const;
