import type { RunConfig } from '../config/config.ts';
import { picked } from '../config/fields.ts';
import { OBJECTIVE_KNOBS } from '../config/objectiveKnobs.ts';
import type { BatchView } from '../domain/batch.ts';
import type { BatchPreview, ObjectiveMeans, Pushed } from '../domain/batchPreview.ts';
import { learnedGroups } from '../domain/tokenMasks.ts';
import type { Credit, ObjectiveParts, TokenGradients } from '../model/learningMath.ts';
import { creditOf, type LearnStep, type Lesson } from './lesson.ts';
import { objective } from './objective.ts';
import { endsPass, passViews } from './passViews.ts';
import { creditSettings } from './settings.ts';

/** What the policy said of each token at an optimizer step; (B,T) each. */
export interface StepLogprobs {
  readonly logprobs: ArrayLike<number>;
  readonly entropies: ArrayLike<number>;
  readonly values: ArrayLike<number>;
}

/** An update as it was done: its batch, the knobs it had at its end, and what it did. */
export interface DoneUpdate {
  readonly batch: BatchView;
  readonly config: RunConfig;
  readonly lesson: Lesson;
}

/**
 * A batch as its update would have treated it with some knobs turned: masks, advantages and gradient weights, by the code that
 * trains, on what was recorded. With `seen` pass by pass, each by the policy that was met there; without it the first pass alone,
 * at the policy that drew the batch, where every ratio is 1. What the update's own knobs give at those ratios is worked out too. That a change in one step would have led to another policy at the
 * next is not followed. A smaller `groupSize` leaves out all but the first rollouts of each task.
 */
export function previewBatch(
  { batch, config, lesson }: DoneUpdate,
  changes: Partial<RunConfig>,
  seen: readonly StepLogprobs[] | null = null,
): BatchPreview {
  const groups = changes.groupSize === undefined ? learnedGroups(batch) : firstOfEach(batch, changes.groupSize);
  const perPass = lesson.steps.length / config.epochs;
  // as the learner has it: a separate critic is taught by the whole value loss
  const weight = config.critic === 'separate' ? { valueCoef: 1 } : {};
  const taken = (seen ? lesson.steps : lesson.steps.slice(0, perPass)).map((step): LearnStep => ({
    ...step,
    objective: { ...step.objective, ...weight },
  }));
  const turnedSteps = taken.map((step): LearnStep => {
    const rows = step.rows.filter((row) => groups[row]! >= 0);
    return { ...step, rows, objective: { ...step.objective, ...objectiveChanges(config, changes) } };
  });
  const was = creditOf(batch, lesson.credit);
  const would = creditOf(batch, turnedCredit({ batch, config, lesson }, changes), groups);
  const before = passesThrough(batch, was, taken, seen, perPass);
  const after = passesThrough(batch, would, turnedSteps, seen, perPass);
  const pushed = ({ masks, advantages, returns }: Credit, of: typeof after, steps: readonly LearnStep[]): Pushed => ({
    passes: passViews({ ...of, lossMask: masks.policy }, steps, perPass, batch.length),
    advantages: Float32Array.from(advantages),
    returns: Float32Array.from(returns),
    lossMask: masks.policy,
    advantageMask: masks.advantage,
    gradWeights: of.gradWeights,
    policyWeights: of.policyWeights,
  });
  const keptRows = Uint8Array.from(groups, (group) => (group >= 0 ? 1 : 0));
  return {
    batch: { ...batch, kept: keptRows, ...pushed(would, after, turnedSteps) },
    before: pushed(was, before, taken),
    ...{ was: before.means, would: after.means },
  };
}

/** The groups of an update, had each task been rolled out `size` times: the others of its rows are out of the batch. */
function firstOfEach(batch: BatchView, size: number): Int32Array {
  const met = new Map<number, number>();
  return learnedGroups(batch).map((group) => {
    const before = met.get(group) ?? 0;
    met.set(group, before + 1);
    return before < size ? group : -1;
  });
}

function objectiveChanges(config: RunConfig, changes: Partial<RunConfig>) {
  const names = OBJECTIVE_KNOBS.filter((name) => changes[name] !== undefined);
  return picked({ ...config, ...changes }, names);
}

/** Credit as the turned knobs ask for it; the coefficient of KL in the reward stays the controller's while its knob does. */
function turnedCredit({ config, lesson }: DoneUpdate, changes: Partial<RunConfig>) {
  const { klCoef, scale } = lesson.credit;
  return creditSettings({ ...config, ...changes }, changes.klRewardCoef ?? klCoef, scale);
}

/** The objective and its weights over optimizer steps, as training would report them. */
function passesThrough(
  batch: BatchView,
  { masks, advantages, returns }: Credit,
  steps: readonly LearnStep[],
  seen: readonly StepLogprobs[] | null,
  perPass: number,
) {
  const { refLogprobs, length } = batch;
  const weights = () => new Float64Array(refLogprobs.length);
  const out: TokenGradients = {
    ...{ dlogprobs: weights(), policyWeights: weights() },
    ...{ dentropies: weights(), dvalues: weights() },
  };
  const fixed = {
    ...{ length, refLogprobs, advantages, returns, oldLogprobs: batch.logprobs, oldValues: batch.values },
    ...{ lossMask: masks.policy, regularizerMask: masks.regularizer, valueMask: masks.value },
  };
  const copy = () => ({
    ...{ gradWeights: Float32Array.from(out.dlogprobs), policyWeights: Float32Array.from(out.policyWeights) },
  });
  const parts: ObjectiveParts[] = [];
  const earlierPasses: ReturnType<typeof copy>[] = [];
  for (const [k, step] of steps.entries()) {
    const { logprobs, entropies, values } = seen?.[k] ?? batch;
    parts.push(objective({ ...fixed, logprobs, entropies, values }, step.rows, step.objective, out));
    if (endsPass(k, steps.length, perPass)) earlierPasses.push(copy());
  }
  return { ...copy(), earlierPasses, means: means(parts) };
}

function means(steps: readonly ObjectiveParts[]): ObjectiveMeans {
  const learned = steps.filter(({ tokens }) => tokens > 0);
  const mean = (of: (parts: ObjectiveParts) => number) =>
    learned.reduce((sum, parts) => sum + of(parts), 0) / Math.max(1, learned.length);
  return {
    policyLoss: mean(({ policyLoss }) => policyLoss),
    entropy: mean(({ entropy }) => entropy),
    kl: mean(({ kl }) => kl),
    valueLoss: mean(({ valueLoss }) => valueLoss),
    total: mean(({ total }) => total),
    clipFraction: mean(({ clipFraction }) => clipFraction),
    clipFractionLower: mean(({ clipFractionLower }) => clipFractionLower),
  };
}
