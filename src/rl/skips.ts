import type { FieldName } from '../config/config.ts';
import type { StepStats } from '../model/policyReport.ts';
import type { TrainingEvent } from '../domain/trainingEvent.ts';

/** An error event for the first optimizer step of an update that was skipped because a number was not finite; else null. */
export function explainSkips(update: number, steps: readonly StepStats[]): TrainingEvent | null {
  const index = steps.findIndex(({ skipped }) => skipped === 'non-finite');
  const step = steps[index];
  if (!step) return null;
  return {
    type: 'error',
    message: `Update ${update}, optimizer step ${index + 1} of ${steps.length}: ${step.culprit || 'the gradient'} is not finite, so the step was skipped.`,
    ...remedy(step.culprit),
    fatal: false,
    cause: 'non-finite',
  };
}

function remedy(culprit: string): { readonly hint: string; readonly fields: readonly FieldName[] } {
  if (culprit.endsWith(' in f16')) {
    return { hint: 'f16 has no numbers beyond 65,504. Reset the run with storage f32.', fields: ['storage'] };
  }
  const fields = ['learningRate', 'maxGradNorm'] as const;
  if (culprit.startsWith('weight')) return { hint: 'A weight that is not finite stays so. Reset the run.', fields };
  return { hint: 'Lower the learning rate or the gradient clip and continue, or reset the run.', fields };
}
