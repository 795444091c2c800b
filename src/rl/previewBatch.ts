import type { RunConfig } from '../config/config.ts';
import { pickKnobs } from '../config/fields.ts';
import { OBJECTIVE_KNOBS } from '../config/objectiveKnobs.ts';
import type { BatchView } from '../domain/batch.ts';
import type { BatchPreview, ObjectiveMeans, LearnedArrays } from '../domain/readings.ts';
import { learnedGroups } from '../domain/tokenMasks.ts';
import type { Credit, ObjectiveParts, TokenGradients } from '../model/learningMath.ts';
import { creditOf, type LearnStep, type Lesson } from './lesson.ts';
import { objective } from './objective.ts';
import { endsEpoch, epochViews } from './epochViews.ts';
import { creditSettings } from './settings.ts';

/** The policy's outputs for each token at an optimizer step, (B,T) each. */
export interface StepOutputs {
  readonly logprobs: ArrayLike<number>;
  readonly entropies: ArrayLike<number>;
  readonly values: ArrayLike<number>;
}

export interface FinishedUpdate {
  readonly batch: BatchView;
  readonly config: RunConfig;
  readonly lesson: Lesson;
}

/**
 * Returns a batch as its update would have treated it with some knobs changed: masks, advantages and gradient weights.
 * Uses the training code on the recorded batch. Also returns the result with the update's own knobs, for comparison.
 *
 * With `stepOutputs`, all epochs are computed, each step with the policy outputs recorded at that step.
 * Without it, only the first epoch is computed, with the policy before the update, where every ratio is 1. The
 * preview ignores that a change in one step would lead to another policy at the next step. A smaller `groupSize` leaves
 * out all but the first rollouts of each task.
 */
export function previewBatch(
  { batch, config, lesson }: FinishedUpdate,
  changes: Partial<RunConfig>,
  stepOutputs: readonly StepOutputs[] | null = null,
): BatchPreview {
  const groups = changes.groupSize === undefined ? learnedGroups(batch) : firstRollouts(batch, changes.groupSize);
  const stepsPerEpoch = lesson.steps.length / config.epochs;
  // a separate critic learns from the whole value loss, as in training
  const valueWeight = config.critic === 'separate' ? { valueCoef: 1 } : {};
  const stepsBefore = (stepOutputs ? lesson.steps : lesson.steps.slice(0, stepsPerEpoch)).map((step): LearnStep => ({
    ...step,
    objective: { ...step.objective, ...valueWeight },
  }));
  const changedSteps = stepsBefore.map((step): LearnStep => {
    const rows = step.rows.filter((row) => groups[row]! >= 0);
    return { ...step, rows, objective: { ...step.objective, ...objectiveChanges(config, changes) } };
  });
  const creditBefore = creditOf(batch, lesson.credit);
  const creditAfter = creditOf(batch, changedCredit({ batch, config, lesson }, changes), groups);
  const before = replaySteps(batch, creditBefore, stepsBefore, stepOutputs, stepsPerEpoch);
  const after = replaySteps(batch, creditAfter, changedSteps, stepOutputs, stepsPerEpoch);
  const learnedArrays = (
    { masks, advantages, returns, corrections }: Credit,
    replayed: typeof after,
    steps: readonly LearnStep[],
  ): LearnedArrays => ({
    // zeros in place of the batch's own mask if the weight is 0
    observationMask: steps.some((step) => step.objective.observationLoss > 0)
      ? masks.observation
      : new Float32Array(masks.observation.length),
    epochViews: epochViews({ ...replayed, lossMask: masks.policy }, steps, stepsPerEpoch, batch),
    advantages: Float32Array.from(advantages),
    returns: Float32Array.from(returns),
    lossMask: masks.policy,
    advantageMask: masks.advantage,
    gradWeights: replayed.gradWeights,
    policyWeights: replayed.policyWeights,
    ...(corrections && { corrections: Float32Array.from(corrections) }),
  });
  const keptRows = Uint8Array.from(groups, (group) => (group >= 0 ? 1 : 0));
  const { corrections: _, ...withoutCorrections } = batch;
  return {
    batch: { ...withoutCorrections, kept: keptRows, ...learnedArrays(creditAfter, after, changedSteps) },
    before: learnedArrays(creditBefore, before, stepsBefore),
    ...{ meansBefore: before.means, meansAfter: after.means },
  };
}

/** Returns the groups of an update if each task had been rolled out `size` times. The other rows get −1. */
function firstRollouts(batch: BatchView, size: number): Int32Array {
  const countOfGroup = new Map<number, number>();
  return learnedGroups(batch).map((group) => {
    const count = countOfGroup.get(group) ?? 0;
    countOfGroup.set(group, count + 1);
    return count < size ? group : -1;
  });
}

function objectiveChanges(config: RunConfig, changes: Partial<RunConfig>) {
  const names = OBJECTIVE_KNOBS.filter((name) => changes[name] !== undefined);
  return pickKnobs({ ...config, ...changes }, names);
}

/** The KL coefficient in the reward stays the controller's unless its knob changes. */
function changedCredit({ config, lesson }: FinishedUpdate, changes: Partial<RunConfig>) {
  const { klCoef, scale } = lesson.credit;
  return creditSettings({ ...config, ...changes }, changes.klRewardCoef ?? klCoef, scale);
}

function replaySteps(
  batch: BatchView,
  { masks, advantages, returns, corrections }: Credit,
  steps: readonly LearnStep[],
  stepOutputs: readonly StepOutputs[] | null,
  stepsPerEpoch: number,
) {
  const { refLogprobs, length } = batch;
  const weights = () => new Float64Array(refLogprobs.length);
  const gradients: TokenGradients = {
    ...{ dlogprobs: weights(), policyWeights: weights() },
    ...{ dentropies: weights(), dvalues: weights() },
  };
  const fixedInputs = {
    ...{ length, refLogprobs, advantages, returns, oldLogprobs: batch.logprobs, oldValues: batch.values },
    ...(corrections && { corrections }),
    ...{ lossMask: masks.policy, regularizerMask: masks.regularizer, valueMask: masks.value },
    observationMask: masks.observation,
    ...(batch.contextStarts && { contextStarts: batch.contextStarts }),
  };
  const copy = () => ({
    ...{
      gradWeights: Float32Array.from(gradients.dlogprobs),
      policyWeights: Float32Array.from(gradients.policyWeights),
    },
  });
  const parts: ObjectiveParts[] = [];
  const earlierEpochs: ReturnType<typeof copy>[] = [];
  for (const [k, step] of steps.entries()) {
    const { logprobs, entropies, values } = stepOutputs?.[k] ?? batch;
    parts.push(objective({ ...fixedInputs, logprobs, entropies, values }, step.rows, step.objective, gradients));
    if (endsEpoch(k, steps.length, stepsPerEpoch)) earlierEpochs.push(copy());
  }
  return { ...copy(), earlierEpochs, means: means(parts) };
}

function means(steps: readonly ObjectiveParts[]): ObjectiveMeans {
  const learned = steps.filter(({ tokens }) => tokens > 0);
  const mean = (of: (parts: ObjectiveParts) => number) =>
    learned.reduce((sum, parts) => sum + of(parts), 0) / Math.max(1, learned.length);
  return {
    policyLoss: mean(({ policyLoss }) => policyLoss),
    entropy: mean(({ entropy }) => entropy),
    kl: mean(({ kl }) => kl),
    observationLoss: mean(({ observationLoss }) => observationLoss),
    valueLoss: mean(({ valueLoss }) => valueLoss),
    total: mean(({ total }) => total),
    clipFraction: mean(({ clipFraction }) => clipFraction),
    clipFractionLower: mean(({ clipFractionLower }) => clipFractionLower),
  };
}
