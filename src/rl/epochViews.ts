import type { PolicyReport } from '../model/policyReport.ts';
import type { ObjectiveSettings } from '../model/learningSettings.ts';
import type { BatchView, EpochView } from '../domain/batch.ts';
import type { LearnStep } from './lesson.ts';
import { objective } from './objective.ts';

/**
 * Returns the gradient weights of each kept epoch over a batch, with each row's share in the mean loss. The last
 * epoch is kept, and as many of the first ones as the policy keeps. An epoch has `stepsPerEpoch` steps and uses each
 * row in one of its minibatches. So a row's weights in an epoch are those of that minibatch.
 */
export function epochViews(
  report: Pick<PolicyReport, 'lossMask' | 'gradWeights' | 'policyWeights' | 'earlierEpochs'>,
  steps: readonly LearnStep[],
  stepsPerEpoch: number,
  { length, contextStarts }: Pick<BatchView, 'length' | 'contextStarts'>,
): readonly EpochView[] {
  if (stepsPerEpoch === 0) return [];
  const weights = [...report.earlierEpochs, report];
  const count = Math.ceil(steps.length / stepsPerEpoch);
  return weights.map(({ gradWeights, policyWeights }, i) => {
    const epoch = i === weights.length - 1 ? count - 1 : i;
    const epochSteps = steps.slice(epoch * stepsPerEpoch, (epoch + 1) * stepsPerEpoch);
    return {
      epoch: epoch + 1,
      gradWeights,
      policyWeights,
      shares: shares(report, epochSteps, { length, contextStarts }),
    };
  });
}

/**
 * Returns the factor of each row's token losses, (B): for a token mean, 1 / tokens of its minibatch. If rows hold several
 * contexts it is (B,T), 0 outside the loss mask. It is the gradient of −A·log π with A = −1 in the objective itself, so it
 * is right for every aggregation.
 */
function shares(
  { lossMask }: Pick<PolicyReport, 'lossMask'>,
  steps: readonly LearnStep[],
  {
    length,
    contextStarts,
  }: Pick<BatchView, 'length'> & { readonly contextStarts: BatchView['contextStarts'] | undefined },
): Float32Array {
  const out = new Float32Array(contextStarts ? lossMask.length : lossMask.length / length);
  const zeros = new Float32Array(lossMask.length);
  const weights = () => new Float64Array(lossMask.length);
  const gradients = { dlogprobs: weights(), policyWeights: weights(), dentropies: weights(), dvalues: weights() };
  const batch = {
    ...{ length, logprobs: zeros, entropies: zeros, values: zeros, oldLogprobs: zeros, refLogprobs: zeros },
    ...{ oldValues: zeros, returns: zeros, lossMask, regularizerMask: zeros, valueMask: zeros },
    observationMask: zeros,
    advantages: zeros.map(() => -1),
    ...(contextStarts && { contextStarts }),
  };
  for (const step of steps) {
    objective(batch, step.rows, { ...step.objective, ...POLICY_LOSS_ONLY }, gradients);
    for (const row of step.rows) {
      const rowWeights = gradients.policyWeights.subarray(row * length, (row + 1) * length);
      if (contextStarts) out.set(rowWeights, row * length);
      else out[row] = rowWeights.find((weight) => weight !== 0) ?? 0;
    }
  }
  return out;
}

const POLICY_LOSS_ONLY = {
  surrogate: 'plain',
  entropyCoef: 0,
  klCoef: 0,
  observationLoss: 0,
  teacherCoef: 0,
  valueCoef: 0,
} as const satisfies Partial<ObjectiveSettings>;

/** Whether an epoch ends after optimizer step `step` and another epoch follows. */
export function endsEpoch(step: number, steps: number, stepsPerEpoch: number): boolean {
  return (step + 1) % stepsPerEpoch === 0 && step + 1 < steps;
}
