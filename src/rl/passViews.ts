import type { PolicyReport } from '../model/policyReport.ts';
import type { ObjectiveSettings } from '../model/learningSettings.ts';
import type { PassView } from '../domain/batch.ts';
import type { LearnStep } from './lesson.ts';
import { objective } from './objective.ts';

/**
 * What each kept pass over a batch pushed at, and with which share a row's tokens stood in the mean: the last pass and as
 * many of the first as the policy keeps. `perPass` steps make a pass. A pass ends where each of its minibatches was
 * learned from once, so a row's weights in it are those of its own minibatch.
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
 * The factor that stood before each row's token losses, (B): 1 / tokens of its minibatch for a token mean. It is read off the
 * objective itself, as the gradient of −A·log π with A = −1, so that every aggregation has its own.
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
    objective(batch, step.rows, { ...step.objective, ...ALONE }, gradients);
    for (const row of step.rows) {
      const own = gradients.policyWeights.subarray(row * length, (row + 1) * length);
      out[row] = own.find((weight) => weight !== 0) ?? 0;
    }
  }
  return out;
}

const ALONE = {
  surrogate: 'plain',
  entropyCoef: 0,
  klCoef: 0,
  valueCoef: 0,
} as const satisfies Partial<ObjectiveSettings>;

/** Whether a pass is over after `step` and another follows. */
export function endsPass(step: number, steps: number, perPass: number): boolean {
  return (step + 1) % perPass === 0 && step + 1 < steps;
}
