import { stepLogprobs } from '../analysis/stepLogprobs.ts';
import type { RunConfig } from '../config/config.ts';
import { usesCritic } from '../config/estimators.ts';
import { type BatchView, isMeasured, type KeptBatch } from '../domain/batch.ts';
import { previewBatch, type StepLogprobs } from '../rl/previewBatch.ts';
import type { Answer, Question } from '../wire/questions.ts';
import type { Readers } from './readers.ts';

/** Knobs that act only once the policy is no longer the one that drew the batch: at ratio 1, and a value at its old self, they do nothing. */
const LATER = ['surrogate', 'clipLow', 'clipHigh', 'dualClip', 'valueClip'] as const;

/**
 * A kept batch as its update would have treated it with some knobs turned; null where what it did is not kept. For knobs of LATER the
 * update is learned again, off to the side, for what the policy said at each step. What the batch was never asked, and the turned
 * knobs read, is asked now of the weights it would have been asked of. Throws, in words, where that cannot be had.
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
  const asked = await measured(by, { batch, config }, { ...config, ...changes });
  const later = LATER.some((name) => changes[name] !== undefined);
  const apart = config.critic === 'separate';
  if (apart && changes.valueClip !== undefined) {
    throw new Error(
      'No preview: the value clip acts from the second epoch on, and the values of a separate critic there are not kept.',
    );
  }
  const all = later ? await seenAt(by, { batch, config }) : null;
  const seen = apart ? (all?.map((step) => ({ ...step, values: batch.values })) ?? null) : all;
  return { kind: 'preview', preview: previewBatch({ batch: asked, config, lesson }, changes, seen) };
}

/** The batch with what a configuration reads of it and it was not asked at the time. */
async function measured(by: Readers, { batch, config }: KeptBatch, turned: RunConfig): Promise<BatchView> {
  if (usesCritic(turned.estimator) && !isMeasured({ batch, config }, 'values')) {
    throw new Error(`${turned.estimator} needs a critic’s values, and this batch was trained without a critic.`);
  }
  const reads = turned.klCoef !== 0 || turned.klRewardCoef !== 0;
  if (!reads || isMeasured({ batch, config }, 'refLogprobs')) return batch;
  // the reference is what the run began with
  const refLogprobs = await by.scoring(by.begun, { batch, config });
  return { ...batch, refLogprobs };
}

const known = new WeakMap<BatchView, readonly StepLogprobs[] | null>(); // a slider asks many times of one update

async function seenAt(by: Readers, { batch, config }: KeptBatch): Promise<readonly StepLogprobs[] | null> {
  const kept = known.get(batch);
  if (kept !== undefined) return kept;
  if (by.beside) {
    throw new Error(
      'No preview: this knob acts from the second optimizer step on. Repeating the update with a checkpoint would take minutes.',
    );
  }
  const before = by.history.state(batch.update - 1);
  const lesson = by.history.lesson(batch.update);
  if (!before || !lesson) throw new Error('The weights before this update are no longer kept.');
  const seen = await stepLogprobs(await by.replaying(config), batch, lesson, before);
  known.set(batch, seen);
  return seen;
}
