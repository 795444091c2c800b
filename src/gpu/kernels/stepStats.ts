/** Statistics of an optimizer step, in the order in which step_stats.wgsl sums them and its line in the log has them. */
export const STEP_STATS = [
  'policyLoss',
  'entropy',
  'kl',
  'clipFraction',
  'clipFractionLower',
  'approxKl',
  'valueLoss',
  'tokens',
] as const;
