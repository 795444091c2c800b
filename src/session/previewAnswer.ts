import type { RunConfig } from '../config/config.ts';
import { usesCritic } from '../config/estimators.ts';
import { type BatchView, isMeasured, type KeptBatch } from '../domain/batch.ts';
import { previewBatch, type StepOutputs } from '../rl/previewBatch.ts';
import type { Answer, Question } from '../wire/questions.ts';
import type { Readers } from './readers.ts';
import type { NetworkState } from '../model/policy.ts';
import { creditOf, type Lesson } from '../rl/lesson.ts';
import { loadBatch } from '../analysis/attribution.ts';
import type { Replay } from '../analysis/replay.ts';

/**
 * Knobs that have no effect at the first optimizer step. There the policy is still the one that drew the batch, so
 * every ratio is 1 and every value equals its old estimate.
 */
const LATER_KNOBS = ['surrogate', 'clipLow', 'clipHigh', 'dualClip', 'valueClip'] as const;

/**
 * A kept batch as its update would have treated it with other values of some knobs; null if the update's record isn't
 * kept. For LATER_KNOBS, a copy of the policy repeats the update, to get its log-probabilities at each step. If the
 * changed knobs need numbers that the update didn't measure, they are computed now from the same weights. Throws an
 * error with the reason if that isn't possible.
 */
export async function previewAnswer(
  by: Readers,
  { update, changes }: Extract<Question, { kind: 'preview' }>,
): Promise<Extract<Answer, { kind: 'preview' }>> {
  const { batch, config } = by.batch(update);
  const lesson = by.history.lesson(update);
  if (!lesson) return { kind: 'preview', preview: null };
  if (changes.groupSize !== undefined && changes.groupSize > config.groupSize) {
    throw new Error(
      `Group size ${changes.groupSize} can’t be previewed: this batch has ${config.groupSize} rollouts per task. Try a smaller number.`,
    );
  }
  const complete = await withMeasurements(by, { batch, config }, { ...config, ...changes });
  const needsRepeat = LATER_KNOBS.some((name) => changes[name] !== undefined);
  const hasSeparateCritic = config.critic === 'separate';
  if (hasSeparateCritic && changes.valueClip !== undefined) {
    throw new Error(
      'No preview: the value clip acts from the second epoch on, and the values of a separate critic there are not kept.',
    );
  }
  const allSteps = needsRepeat ? await stepOutputsOf(by, { batch, config }) : null;
  const stepOutputs = hasSeparateCritic
    ? (allSteps?.map((step) => ({ ...step, values: batch.values })) ?? null)
    : allSteps;
  return { kind: 'preview', preview: previewBatch({ batch: complete, config, lesson }, changes, stepOutputs) };
}

/** The batch, completed with the numbers that the changed configuration needs. */
async function withMeasurements(by: Readers, { batch, config }: KeptBatch, changed: RunConfig): Promise<BatchView> {
  if (usesCritic(changed.estimator) && !isMeasured({ batch, config }, 'values')) {
    throw new Error(`${changed.estimator} needs a critic’s values, and this batch was trained without a critic.`);
  }
  const needsReference = changed.klCoef !== 0 || changed.klRewardCoef !== 0;
  if (!needsReference || isMeasured({ batch, config }, 'refLogprobs')) return batch;
  const refLogprobs = await by.batchLogprobs(by.referenceWeights(), { batch, config });
  return { ...batch, refLogprobs };
}

// a dragged slider asks about the same update many times
const cache = new WeakMap<BatchView, readonly StepOutputs[] | null>();

/**
 * The numbers of each optimizer step of an update, cached for each batch; null as in `stepLogprobs`. Throws if the
 * update can't be repeated.
 */
async function stepOutputsOf(by: Readers, { batch, config }: KeptBatch): Promise<readonly StepOutputs[] | null> {
  const cached = cache.get(batch);
  if (cached !== undefined) return cached;
  if (by.adaptedPolicies) {
    throw new Error(
      'No preview: this knob acts from the second optimizer step on. Repeating the update with a checkpoint would take minutes.',
    );
  }
  const before = by.history.state(batch.update - 1);
  const lesson = by.history.lesson(batch.update);
  if (!before || !lesson) throw new Error('The weights before this update are no longer kept.');
  const stepOutputs = await stepLogprobs(await by.batchReplay(config), batch, lesson, before);
  cache.set(batch, stepOutputs);
  return stepOutputs;
}

/**
 * Log-probability, entropy and value of each token at each optimizer step of an update. The replay repeats the update
 * from the state `before`; this overwrites its weights and moments. Null if the update trained only the critic: then
 * the policy's numbers are the same at every step as before the update.
 */
async function stepLogprobs(
  { policy, math }: Replay,
  batch: BatchView,
  lesson: Lesson,
  before: NetworkState,
): Promise<readonly StepOutputs[] | null> {
  if (lesson.steps.some(({ optimizer }) => optimizer.criticOnly)) return null;
  policy.writeState({ policy: before, critic: null });
  loadBatch({ policy, math }, batch, creditOf(batch, lesson.credit));
  math.setTerm();
  const stepOutputs: StepOutputs[] = [];
  for (const { rows, objective, optimizer, temperature } of lesson.steps) {
    await policy.learn(rows, objective, optimizer, temperature);
    await policy.report(); // reading the report empties the list of steps
    stepOutputs.push(math.stepOutputs());
  }
  return stepOutputs;
}
