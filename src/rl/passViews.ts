import type { PolicyReport } from '../model/policyReport.ts';
import type { ObjectiveSettings } from '../model/learningSettings.ts';
import type { PassView } from '../domain/batch.ts';
import type { LearnStep } from './lesson.ts';
import { objective } from './objective.ts';

/**
 * Returns the gradient weights of each kept epoch (pass) over a batch, with each row's share in the mean loss. The last
 * epoch is kept, and as many of the first ones as the policy keeps. An epoch has `perPass` steps and uses each row in
 * one of its minibatches. So a row's weights in an epoch are those of that minibatch.
 */
export function passViews(
  report: Pick<PolicyReport, 'lossMask' | 'gradWeights' | 'policyWeights' | 'earlierPasses'>,
  steps: readonly LearnStep[],
  perPass: number,
  length: number,
): readonly PassView[] {
  if (perPass === 0) return [];
  const weights = [...report.earlierPasses, report];
  const count = Math.ceil(steps.length / perPass);
  return weights.map(({ gradWeights, policyWeights }, i) => {
    const pass = i === weights.length - 1 ? count - 1 : i;
    const passSteps = steps.slice(pass * perPass, (pass + 1) * perPass);
    return { pass: pass + 1, gradWeights, policyWeights, shares: shares(report, passSteps, length) };
  });
}

/**
 * Returns the factor of each row's token losses, (B): for a token mean, 1 / tokens of its minibatch. It is the gradient
 * of −A·log π with A = −1 in the objective itself, so it is right for every aggregation.
 */
function shares(
  { lossMask }: Pick<PolicyReport, 'lossMask'>,
  steps: readonly LearnStep[],
  length: number,
): Float32Array {
  const out = new Float32Array(lossMask.length / length);
  const none = new Float32Array(lossMask.length);
  const weights = () => new Float64Array(lossMask.length);
  const gradients = { dlogprobs: weights(), policyWeights: weights(), dentropies: weights(), dvalues: weights() };
  const batch = {
    ...{ length, logprobs: none, entropies: none, values: none, oldLogprobs: none, refLogprobs: none },
    ...{ oldValues: none, returns: none, lossMask, regularizerMask: none, valueMask: none },
    advantages: none.map(() => -1),
  };
  for (const step of steps) {
    objective(batch, step.rows, { ...step.objective, ...POLICY_LOSS_ONLY }, gradients);
    for (const row of step.rows) {
      const own = gradients.policyWeights.subarray(row * length, (row + 1) * length);
      out[row] = own.find((weight) => weight !== 0) ?? 0;
    }
  }
  return out;
}

const POLICY_LOSS_ONLY = {
  surrogate: 'plain',
  entropyCoef: 0,
  klCoef: 0,
  valueCoef: 0,
} as const satisfies Partial<ObjectiveSettings>;

/** Whether an epoch (pass) ends after `step` and another follows. */
export function endsPass(step: number, steps: number, perPass: number): boolean {
  return (step + 1) % perPass === 0 && step + 1 < steps;
}
