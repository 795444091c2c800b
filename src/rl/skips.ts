import type { StepStats } from '../model/policy.ts';
import type { RunEvent } from '../protocol.ts';

/** An error event for the first optimizer step of an update that was skipped because something was not finite. */
export function explainSkips(update: number, steps: readonly StepStats[]): RunEvent | null {
  const index = steps.findIndex(({ skipped }) => skipped === 'non-finite');
  const step = steps[index];
  if (!step) return null;
  return {
    type: 'error',
    message: `Update ${update}, optimizer step ${index + 1} of ${steps.length}: ${step.culprit || 'the gradient'} is not finite, so the step was skipped.`,
    hint: step.culprit.startsWith('weight')
      ? 'A weight cannot mend itself: reset the run.'
      : 'Lower the learning rate or the gradient clip, then run on; or reset.',
    fatal: false,
    fields: ['learningRate', 'maxGradNorm'],
    cause: 'non-finite',
  };
}
